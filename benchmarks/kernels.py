"""How near the kernels are to their floor, the bare matrix products of the same blocks, and to one copy of the pool.

    python -m benchmarks.kernels
    python -m benchmarks.kernels --device cuda

Per candidate and configuration, what H[y | configuration] costs: the product alone, in blocks as the kernel cuts them;
then the whole kernel; then the differences of a race. Rows are kept in benchmarks/results/kernels.json.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.machine import described
from benchmarks.predictions import predictions
from infoacq import BatchBALD, _kernels, select_batch
from infoacq._arrays import block_size, from_host

RESULTS = Path(__file__).parent / "results" / "kernels.json"
SIZES = ((4000, 32), (4000, 128), (2000, 1024), (500, 10_000))  # candidates and configurations


@dataclass(frozen=True)
class Row:
    """Nanoseconds for each candidate and configuration."""

    maker: str
    candidates: int
    configurations: int
    product: float
    kernel: float
    kernel_ratio: float
    differences: float
    differences_ratio: float


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=9, help="each time is the shortest of so many")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args()
    rows = []
    for row in measured(options.device, options.repeats):
        print(
            f"{row.maker:12} {row.candidates:5} candidates x {row.configurations:6} configurations  product"
            f" {row.product:6.1f} ns  kernel {row.kernel:6.1f} ns ({row.kernel_ratio:.2f} x)"
            f"  differences {row.differences:6.1f} ns ({row.differences_ratio:.2f} x)",
            flush=True,
        )
        rows.append(row)
    report = {"machine": described(options.device), "rows": [asdict(r) for r in rows]}
    options.out.write_text(json.dumps(report, indent=1) + "\n")


def measured(device: str, repeats: int) -> Iterator[Row]:
    """PyTorch on the device, and NumPy where that is the processor."""
    _, probs = predictions(max(n for n, _ in SIZES), 100, 10)
    makers: dict[str, Any] = {f"torch {device}": torch.from_numpy(probs).to(device)}
    makers |= {"numpy": probs} if device == "cpu" else {}
    posteriors = np.random.default_rng(0).dirichlet(np.full(100, 0.1), size=max(m for _, m in SIZES))
    for maker, pool in makers.items():
        select_batch(pool, BatchBALD(), 5)  # what it frees, the allocator keeps: without it half the time is new pages
        for candidates, configurations in SIZES:
            yield _measured(maker, pool[:candidates], posteriors[:configurations], repeats)


def _measured(maker: str, p: Any, posteriors: np.ndarray, repeats: int) -> Row:
    count = len(posteriors)
    beside, masses = from_host(posteriors, p), from_host(np.full(count, 1.0 / count), p)
    of_draws, steps = _kernels.draw_entropies(p), from_host(_kernels.systematic_steps(count, 0), p)
    reference = _kernels.information_by_configuration(p[:1], of_draws[:1], beside)[0]
    ways: tuple[Callable[[], Any], ...] = (
        lambda: _products(p, beside),
        lambda: _kernels.conditional_entropies(p, beside, masses),
        lambda: _kernels.information_differences(p, of_draws, beside, masses, reference, steps),
    )
    product, kernel, differences = (1e9 * t / len(p) / count for t in _interleaved(ways, repeats))
    ratios = kernel / product, differences / product
    return Row(maker, len(p), count, product, kernel, ratios[0], differences, ratios[1])


def _products(p: Any, posteriors: Any) -> None:
    """The bare products: rows laid out for them beforehand would be another algorithm, so each block is moved once."""
    width = min(int(block_size(p) ** 0.5), len(posteriors))
    rows = max(1, block_size(p) // (p.shape[2] * max(width, p.shape[1])))
    for start in range(0, len(p), rows):
        block = p[start : start + rows].swapaxes(1, 2).reshape(-1, p.shape[1])
        for first in range(0, len(posteriors), width):
            block @ posteriors[first : first + width].T


def _interleaved(ways: tuple[Callable[[], Any], ...], repeats: int) -> list[float]:
    """The shortest time of each way (s), measured in turn so that a slow moment hits all of them."""
    times: list[list[float]] = [[] for _ in ways]
    for _ in range(repeats + 1):
        for way, taken in zip(ways, times, strict=True):
            start = time.perf_counter()
            way()
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            taken.append(time.perf_counter() - start)
    return [min(taken[1:]) for taken in times]


if __name__ == "__main__":
    main()
