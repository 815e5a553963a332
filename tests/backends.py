"""Makers of arrays in each of their dtypes, and their arrays back as NumPy's."""

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

DTYPES = {
    "numpy": ("float64", "float32", "float16"),
    "torch": ("float64", "float32", "float16", "bfloat16"),
    "cuda": ("float64", "float32", "float16", "bfloat16"),
    "jax": ("float64", "float32", "float16", "bfloat16"),
    "array_api_strict": ("float64", "float32"),
}


@dataclass(frozen=True)
class Backend:
    """One maker of arrays in one dtype."""

    maker: str
    dtype: str

    def __str__(self) -> str:
        return f"{self.maker}-{self.dtype}"

    @property
    def package(self) -> str:
        return "torch" if self.maker == "cuda" else self.maker

    @property
    def tolerance(self) -> float:
        """How far sums of a few dozen numbers may be off: what is narrower than float32 is computed in float32."""
        return 1e-9 if self.dtype == "float64" else 1e-5

    def skip_if_missing(self) -> None:
        if importlib.util.find_spec(self.package) is None:
            pytest.skip(f"{self.package} is not installed")
        if self.maker == "cuda":
            import torch

            if not torch.cuda.is_available():
                pytest.skip("PyTorch finds no CUDA device on this machine")

    def array(self, values: Any) -> Any:
        """`values` as an array of this maker and dtype."""
        values = np.asarray(values, dtype=np.float64)
        if self.maker in ("torch", "cuda"):
            import torch

            device = "cuda" if self.maker == "cuda" else "cpu"
            return torch.tensor(values, dtype=getattr(torch, self.dtype), device=device)
        if self.maker == "jax":
            import jax

            jax.config.update("jax_enable_x64", True)
            return jax.numpy.asarray(values, dtype=self.dtype)
        if self.maker == "array_api_strict":
            import array_api_strict

            return array_api_strict.asarray(values, dtype=getattr(array_api_strict, self.dtype))
        return values.astype(self.dtype)


def numpy(x: Any) -> np.ndarray:
    """`x` as a NumPy array of float64."""
    if type(x).__module__.partition(".")[0] == "torch":
        assert not x.requires_grad
        x = x.cpu().double()
    return np.asarray(x).astype(np.float64)


BACKENDS = [Backend(maker, dtype) for maker, dtypes in DTYPES.items() for dtype in dtypes]
