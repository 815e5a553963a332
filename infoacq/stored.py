"""Pools that are larger than memory: read from a file or a store shard by shard, and forgotten after."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks
from infoacq._arrays import Array, take
from infoacq.candidates import Candidates, Shard
from infoacq.given_as import logits
from infoacq.sources import cuts, cuts_every, read, source

AsProbs = Callable[[Any, Int[np.ndarray, " n"] | None], Float[Array, "n k c"]]
"""(what is stored, positions) to checked probabilities: one of `infoacq.given_as`, which pickles as its name."""


@dataclass(frozen=True, eq=False)
class StoredShard:
    """Candidates that lie near each other in a store: all from `start` to `stop`, or those of these at `index`.

    They are read when they are loaded, where that happens to be, and checked then.
    """

    source: Any
    start: int
    stop: int
    as_probs: AsProbs
    index: Int[np.ndarray, " n"] | None = None

    def load(self) -> Candidates:
        """The candidates, read now.

        Raises:
            OSError: if they cannot be read.
            ValueError: if they are no probabilities.
        """
        if self.index is None:
            index, stored = np.arange(self.start, self.stop), read(self.source, self.start, self.stop)
        else:
            index, first = self.index, int(self.index.min())
            stored = take(read(self.source, first, int(self.index.max()) + 1), index - first)
        return Candidates(index, self.as_probs(stored, index))


@dataclass(frozen=True, eq=False)
class StoredPool:
    """A pool in a file or a store. Nothing of a candidate is kept but what the maximiser keeps, its bound.

    `cuts` are the positions at which shards begin, and the number of candidates.
    """

    source: Any
    as_probs: AsProbs
    cuts: Int[np.ndarray, " cuts"]
    outcome: ClassVar[str] = "classes"

    @classmethod
    def of(cls, array: Any, as_probs: AsProbs) -> "StoredPool":
        """The pool of a memory-mapped array, a Zarr array, an HDF5 data set or a Dask array.

        Raises:
            TypeError: if it holds no floating-point numbers.
            ValueError: if its shape is another, or chunks of it are missing.
        """
        predictions = source(array)
        checks.all_written(predictions, zeros_are_refused=as_probs is not logits)
        return cls(predictions, as_probs, cuts(predictions))

    def __len__(self) -> int:
        return int(self.source.shape[0])

    def shards(self) -> Sequence[Shard]:
        """Consecutive candidates, which are read when they are loaded."""
        return [self._shard(i) for i in range(len(self.cuts) - 1)]

    def parts(self, index: Int[np.ndarray, " n"]) -> Sequence[Shard]:
        """The candidates at these positions by shard, so that each shard is read once."""
        ordered = np.sort(index)
        ends = np.searchsorted(ordered, self.cuts)
        return [
            self._shard(i, ordered[start:stop])
            for i, (start, stop) in enumerate(pairwise(ends.tolist()))
            if start < stop
        ]

    def take(self, index: Int[np.ndarray, " n"]) -> Candidates:
        """The candidates at these positions, read shard by shard.

        Raises:
            OSError: if they cannot be read.
            ValueError: if they are no probabilities.
        """
        loaded = [part.load() for part in self.parts(index)]
        found = np.concatenate([part.index for part in loaded])
        predictions = np.concatenate([part.predictions for part in loaded])
        return Candidates(index, take(predictions, np.searchsorted(found, index)))

    def with_shards_of(self, shard_size: int) -> "StoredPool":
        """The same pool, read in shards of another size: whole chunks of the store are best.

        Raises:
            TypeError: if `shard_size` is no whole number.
            ValueError: if it is below 1.
        """
        return replace(self, cuts=cuts_every(checks.whole_number(shard_size, "shard_size"), len(self)))

    def _shard(self, number: int, index: Int[np.ndarray, " n"] | None = None) -> Shard:
        start, stop = self.cuts[number : number + 2].tolist()
        return StoredShard(self.source, start, stop, self.as_probs, index)
