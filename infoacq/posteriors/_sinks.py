"""Where probabilities go while the pool is scored: to memory, the caller's array, or a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm

from infoacq.posteriors._inputs import Reader
from infoacq.posteriors._npy import Facts, npy_file
from infoacq.posteriors._outputs import Output, to_probs

Out = Tensor | np.ndarray | str | Path


@runtime_checkable
class Sink(Protocol):
    """Takes the candidates' probabilities in order."""

    rows: int  # how many are there
    checksum: int  # of the inputs of these, where it matters

    def write(self, probs: Float[Tensor, "n k c"], checksum: int) -> None:
        """Add the next candidates; the checksum is of all inputs up to theirs."""

    def finish(self) -> Float[Tensor, "n k c"]:
        """All of them."""


@dataclass
class Memory:
    """A new tensor on the CPU; made at once where the size of the pool is known."""

    size: int | None
    dtype: torch.dtype | None
    rows: int = 0
    checksum: int = 0
    _chunks: list[Tensor] = field(default_factory=list)

    def write(self, probs: Float[Tensor, "n k c"], checksum: int) -> None:
        """Add the next candidates.

        Raises:
            ValueError: there are more than was said.
        """
        probs = probs.to("cpu", self.dtype or probs.dtype)
        if self.size is not None and self.rows + len(probs) > self.size:
            raise ValueError(f"the loader's sampler has length {self.size}, but it gave more candidates.")
        if not self._chunks and self.size is not None:
            self._chunks = [probs.new_empty(self.size, *probs.shape[1:])]
        if self.size is None:
            self._chunks.append(probs)
        else:
            self._chunks[0][self.rows : self.rows + len(probs)] = probs
        self.rows += len(probs)

    def finish(self) -> Float[Tensor, "n k c"]:
        """All of them.

        Raises:
            ValueError: there are fewer than was said.
        """
        if self.size not in (None, self.rows):
            raise ValueError(f"the loader's sampler has length {self.size}, but it gave {self.rows} candidates.")
        return self._chunks[0] if len(self._chunks) == 1 else torch.cat(self._chunks)


@dataclass
class CallersArray:
    """An array or tensor of the caller's, of its own dtype."""

    array: Tensor
    rows: int = 0
    checksum: int = 0

    def write(self, probs: Float[Tensor, "n k c"], checksum: int) -> None:
        """Add the next candidates.

        Raises:
            ValueError: they do not fit.
        """
        end = self.rows + len(probs)
        if probs.shape[1:] != self.array.shape[1:] or end > len(self.array):
            raise ValueError(
                f"out must have shape (n, k, c) = (candidates, draws, classes); got {tuple(self.array.shape)}, but "
                f"there are {end} candidates or more, {probs.shape[1]} draws and {probs.shape[2]} classes."
            )
        self.array[self.rows : end] = probs
        self.rows = end

    def finish(self) -> Float[Tensor, "n k c"]:
        """All of them.

        Raises:
            ValueError: the array has room for more.
        """
        if self.rows != len(self.array):
            raise ValueError(f"out has room for {len(self.array)} candidates; the pool has {self.rows}.")
        return self.array


def fill(sink: Sink, scores: Iterable[Tensor], reader: Reader, output: Output, bar: tqdm[NoReturn]) -> Tensor:
    """Turn scores into probabilities and write them; the whole at the end.

    Raises:
        ValueError: scores that are not what `output` says, or no candidates at all.

    Warns:
        UserWarning: all draws are identical.
    """
    identical = False
    for chunk in scores:
        probs = to_probs(chunk, output, sink.rows)
        identical = probs.shape[1] > 1 and bool((probs == probs[:, :1]).all()) and (identical or sink.rows == 0)
        sink.write(probs, reader.checksum_behind(len(probs)))
        bar.update(len(probs))
    if reader.rows == 0:
        raise ValueError("the pool is empty: there is no candidate to predict.")
    if identical:
        warnings.warn("all draws are identical, so no label could tell anything about them.", stacklevel=3)
    return sink.finish()


def make_sink(out: Out | None, size: int | None, draws: int, dtype: torch.dtype | None, facts: Facts) -> Sink:
    """The sink that the caller's `out` stands for.

    Raises:
        TypeError: a dtype that is no floating one of torch.
        ValueError: an array that cannot take the result, or what `npy_file` refuses.
    """
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise TypeError(f"dtype must be a floating dtype of torch, such as torch.float16; got {dtype!r}.")
    if out is None:
        return Memory(size, dtype)
    if isinstance(out, (str, Path)):
        return npy_file(Path(out), facts, dtype)
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only. Open a memory-mapped file with mode 'r+' or 'w+'.")
    array = torch.from_numpy(out) if isinstance(out, np.ndarray) else out
    if array.ndim != 3 or array.shape[1] != draws or (size is not None and len(array) != size):
        wanted = f"({'n' if size is None else size}, {draws}, c)"
        raise ValueError(f"out must have shape {wanted} = (candidates, draws, classes); got {tuple(array.shape)}.")
    if not array.is_floating_point() or dtype not in (None, array.dtype):
        raise ValueError(f"out is of {array.dtype}; {dtype or 'a floating dtype'} is wanted.")
    return CallersArray(array)
