"""The fused kernel: by Triton's interpreter on any machine, and compiled where there is a GPU."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.predictions import dirichlet

torch = pytest.importorskip("torch", reason="the fused kernel is PyTorch's")
pytest.importorskip("triton", reason="Triton is not installed")

# Numbers of candidates, draws, classes and configurations that are no multiples of a block, and one configuration.
SHAPES = [(7, 5, 3, 70), (33, 40, 10, 129), (1, 1, 1, 1), (5, 100, 47, 2)]


def expected(p: np.ndarray, posteriors: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """Σ_m masses_m H[Σ_k posteriors_mk p_nk:] as it is written down, in float64."""
    out = np.zeros(len(p))
    for mass, posterior in zip(masses, posteriors, strict=True):
        q = np.tensordot(p, posterior, axes=([1], [0]))
        out -= mass * np.where(q > 0, q * np.log(np.where(q > 0, q, 1.0)), 0.0).sum(axis=1)
    return out


def case(n: int, k: int, c: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    p = dirichlet(3, n, k, c).astype(np.float32)
    p[0] = np.eye(c, dtype=np.float32)[0]  # a certain candidate: p log p at 0 and 1
    rng = np.random.default_rng(4)
    posteriors = rng.dirichlet(np.full(k, 0.3), size=m).astype(np.float32)
    return p, posteriors, rng.dirichlet(np.ones(m)).astype(np.float32)


def test_interpreted_it_gives_the_sum_as_written_down(tmp_path: Path) -> None:
    given = [case(*shape) for shape in SHAPES]
    for i, (p, posteriors, masses) in enumerate(given):
        np.savez(tmp_path / f"{i}.npz", p=p, posteriors=posteriors, masses=masses)
    program = f"""
import numpy as np, torch
from infoacq import _fused
for i in range({len(SHAPES)}):
    given = np.load(rf"{tmp_path}/{{i}}.npz")
    out = _fused.conditional_entropies(*(torch.from_numpy(given[name]) for name in given.files))
    np.save(rf"{tmp_path}/{{i}}.npy", out.numpy())
"""
    # Triton reads the variable when it is imported, so it runs in a process of its own.
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "TRITON_INTERPRET": "1"})
    for i, (p, posteriors, masses) in enumerate(given):
        np.testing.assert_allclose(np.load(tmp_path / f"{i}.npy"), expected(p, posteriors, masses), atol=2e-6)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", [*SHAPES, (3_000, 100, 10, 1_000)], ids=str)
def test_compiled_it_gives_the_same_and_is_what_the_core_runs(shape: tuple[int, int, int, int], dtype: str) -> None:
    from infoacq import _fused, _kernels

    p, posteriors, masses = (torch.from_numpy(x).cuda() for x in case(*shape))
    p = p.to(getattr(torch, dtype))
    exact = expected(p.double().cpu().numpy(), posteriors.cpu().numpy(), masses.cpu().numpy())
    fused = _fused.conditional_entropies(p, posteriors, masses)
    np.testing.assert_allclose(fused.cpu().numpy(), exact, atol=5e-6)
    if len(masses) > 1:
        assert torch.equal(_kernels.conditional_entropies(p, posteriors, masses), fused)
