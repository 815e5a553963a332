"""Arrays that are not in memory: what a pool asks of a file or a store, and where it is best cut.

A source has a `shape` and a `dtype`, gives rows for a slice of them (`source[start:stop]`), and is cheap to pickle.
Zarr and Dask arrays are sources as they are, an HDF5 data set is one within its process; a memory-mapped array becomes
one that pickles as its path.
"""

import math
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks

# What is read at once: enough for a pass to be a sequential read, little beside the memory of a laptop.
SHARD_BYTES, SHARD_ROWS = 1 << 26, 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class MappedFile:
    """A view of a memory-mapped file, which another process opens again by its path."""

    array: np.ndarray
    path: Path
    offset: int

    @classmethod
    def of(cls, mapped: Any) -> "MappedFile":
        """The same view; where it begins in the file is told by its address, as NumPy forgets it when slicing."""
        whole = np.frombuffer(mapped._mmap, dtype=np.uint8)
        before_map = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
        return cls(mapped.view(np.ndarray), Path(mapped.filename), before_map + _address(mapped) - _address(whole))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def ndim(self) -> int:
        return self.array.ndim

    def __getitem__(self, rows: slice) -> np.ndarray:
        """The rows, without a copy."""
        part = self.array[rows]
        # Reading a map behind the end of its file kills the process: better an error.
        end = (
            self.offset
            + _address(part)
            - _address(self.array)
            + sum(max(0, (size - 1) * stride) for size, stride in zip(part.shape, part.strides, strict=True))
        )
        checks.file_reaches(self.path, end + part.itemsize)
        return part

    def __repr__(self) -> str:
        return str(self.path)

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (self.path, self.offset, self.shape, self.array.strides, self.dtype)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def _reopened(
    path: Path, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]
) -> MappedFile:
    whole = np.memmap(path, dtype=np.uint8, mode="r")
    return MappedFile(np.ndarray(shape, dtype, buffer=whole, offset=offset, strides=strides), path, offset)


def is_source(x: Any) -> bool:
    """Whether `x` is read from elsewhere, piece by piece: a memory-mapped file, a Zarr, HDF5 or Dask array."""
    if isinstance(x, np.memmap):
        # Changes to a private map ("c") are not in the file; results of computing with a map are in memory.
        return x.filename is not None and x.mode != "c" and getattr(x, "_mmap", None) is not None
    return hasattr(x, "chunks") and hasattr(x, "shape") and hasattr(x, "dtype")


def source(x: Any) -> Any:
    """`x` as a source of predictions (n, k, c).

    Raises:
        TypeError: if it holds no floating-point numbers.
        ValueError: if its shape is another.
    """
    checks.stored(x)
    return MappedFile.of(x) if isinstance(x, np.memmap) else x


def cuts(source: Any) -> Int[np.ndarray, " cuts"]:
    """Where shards begin, and the end: at chunks of the store, several together if they are small."""
    rows = int(source.shape[0])
    chunk = (getattr(source, "shards", None) or getattr(source, "chunks", None) or (1,))[0]
    if isinstance(chunk, tuple):  # of Dask, whose chunks may differ: each is where it is, some are empty
        return np.unique(np.cumsum([0, *chunk]))
    row_bytes = math.prod(source.shape[1:]) * source.dtype.itemsize
    most = max(1, min(SHARD_ROWS, SHARD_BYTES // row_bytes))
    return cuts_every(chunk * max(1, most // chunk), rows)


def cuts_every(step: int, rows: int) -> Int[np.ndarray, " cuts"]:
    """Where shards of `step` candidates begin, and the end."""
    return np.append(np.arange(0, rows, step), rows)


def read(source: Any, start: int, stop: int) -> Float[np.ndarray, "n k c"]:
    """What the source holds from `start` to `stop`, as it is.

    Raises:
        OSError: if it cannot be read; which candidates is said.
        ValueError: if it has another shape than the source says.
    """
    with checks.readable(source, start, stop):
        block = np.asarray(source[start:stop])
    checks.block_shape(block.shape, (stop - start, *source.shape[1:]), start)
    return block
