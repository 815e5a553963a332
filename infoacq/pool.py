"""The pool of candidates: what is read, shard by shard, and nothing about how it is scored."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks, given_as
from infoacq._arrays import Array, compact, take
from infoacq.candidates import Candidates, KeptEntropies, Pool, Shard
from infoacq.sources import is_source
from infoacq.stored import AsProbs, StoredPool

__all__ = ["ArrayPool", "Candidates", "Pool", "Shard", "as_pool", "from_log_probs", "from_logits", "from_probs"]


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class ArrayShard:
    """Consecutive candidates of an array, from position `start` on."""

    start: int
    predictions: Float[Array, "n k *outcome"]
    kept_entropies: KeptEntropies | None = field(default=None, repr=False, compare=False)

    def load(self) -> Candidates:
        """The candidates, without a copy."""
        index = np.arange(self.start, self.start + self.predictions.shape[0])
        return Candidates(index, self.predictions, self.kept_entropies)

    def __getstate__(self) -> dict[str, Any]:
        """Without the way back to the pool."""
        return {"start": self.start, "predictions": compact(self.predictions), "kept_entropies": None}


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class ArrayPool:
    """A pool in one array, read in shards of `shard_size` candidates.

    Entropies under each draw are kept once something asked for them: c times fewer numbers than the predictions.
    `outcome` says what the predictions are of: "classes", "outputs" or "values".
    """

    predictions: Float[Array, "n k *outcome"]
    shard_size: int = 1 << 16
    outcome: str = "classes"

    def __len__(self) -> int:
        return int(self.predictions.shape[0])

    def shards(self) -> Sequence[Shard]:
        """Views of consecutive candidates."""
        stops = {i: min(i + self.shard_size, len(self)) for i in range(0, len(self), self.shard_size)}
        parts = [(slice(i, stop), self.predictions[i:stop, ...]) for i, stop in stops.items()]
        return [ArrayShard(rows.start, part, self._kept(part, rows)) for rows, part in parts]

    def take(self, index: Int[np.ndarray, " n"]) -> Candidates:
        """The candidates at these positions, copied."""
        taken = take(self.predictions, index)
        return Candidates(index, taken, self._kept(taken, index))

    def _kept(self, predictions: Array, rows: slice | Int[np.ndarray, " n"]) -> KeptEntropies:
        return KeptEntropies(predictions, partial(self._entropies_of, rows))

    @cached_property
    def _draw_entropies(self) -> Float[Array, "n k"]:
        return _kernels.draw_entropies(self.predictions)

    def _entropies_of(self, rows: slice | Int[np.ndarray, " n"]) -> Float[Array, "n k"]:
        kept = self._draw_entropies
        return kept[rows, :] if isinstance(rows, slice) else take(kept, rows)

    def with_shards_of(self, shard_size: int) -> "ArrayPool":
        """The same pool, read in shards of another size: for an executor, about its workers' number of them.

        Raises:
            TypeError: if `shard_size` is no whole number.
            ValueError: if it is below 1.
        """
        return replace(self, shard_size=checks.whole_number(shard_size, "shard_size"))


def from_probs(probs: Float[Array, "n k c"]) -> ArrayPool | StoredPool:
    """A pool from p(y_n = c | draw k). The array is used as it is, not copied; a gradient graph is left behind.

    A memory-mapped array, a Zarr array, an HDF5 data set or a Dask array is not loaded: it is read, and checked, shard
    by shard, whenever candidates are scored.

    Raises:
        TypeError: if `probs` is no floating-point array of NumPy, PyTorch or JAX, and no store of one.
        ValueError: if `probs` has another shape, or a row is negative, not finite or does not sum to one.
    """
    return _pool(probs, given_as.probs)


def from_log_probs(log_probs: Float[Array, "n k c"]) -> ArrayPool | StoredPool:
    """A pool from log p(y_n = c | draw k) in nats, minus infinity allowed; kept in the dtype that is given.

    Raises:
        TypeError: if `log_probs` is no floating-point array of NumPy, PyTorch or JAX, and no store of one.
        ValueError: if `log_probs` has another shape, or a row's exponentials do not sum to one.
    """
    return _pool(log_probs, given_as.log_probs)


def from_logits(logits: Float[Array, "n k c"]) -> ArrayPool | StoredPool:
    """A pool from unnormalised log-probabilities, by softmax over the classes; computed in at least float32.

    Raises:
        TypeError: if `logits` is no floating-point array of NumPy, PyTorch or JAX, and no store of one.
        ValueError: if `logits` has another shape, or holds NaN or plus infinity.
    """
    return _pool(logits, given_as.logits)


def _pool(given: Any, as_probs: AsProbs) -> ArrayPool | StoredPool:
    return StoredPool.of(given, as_probs) if is_source(given) else ArrayPool(as_probs(given, None))


def as_pool(pool: Any) -> Pool:
    """`pool` itself if it is one, otherwise the pool of the probabilities that it holds.

    Raises:
        TypeError, ValueError: as `from_probs`; ValueError if the pool is empty.
    """
    if hasattr(pool, "shards") and hasattr(pool, "take"):
        checks.whole_number(len(pool), "the number of candidates in the pool")
        return pool  # type: ignore[no-any-return]
    return from_probs(pool)
