"""The pool of candidates: what is read, shard by shard, and nothing about how it is scored."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks
from infoacq._arrays import Array, compact, detached, namespace, take, widened


@dataclass(frozen=True)
class Candidates:
    """Some candidates of a pool: their positions in it and what each draw predicts of them."""

    index: Int[np.ndarray, " n"]
    predictions: Float[Array, "n k *outcome"]
    kept_entropies: Callable[[], Array] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def draw_entropies(self) -> Float[Array, "n k"]:
        """H[y_n | draw k] (nats): what the pool keeps of them, or computed."""
        return self.kept_entropies() if self.kept_entropies else _kernels.draw_entropies(self.predictions)

    def __getstate__(self) -> dict[str, Any]:
        """Without the way back to the pool."""
        return {"index": self.index, "predictions": compact(self.predictions), "kept_entropies": None}


@runtime_checkable
class Shard(Protocol):
    """A unit of reading and of distribution: cheap to pickle, a view or a path, never the whole pool."""

    def load(self) -> Candidates:
        """The candidates of this shard."""
        ...


@runtime_checkable
class Pool(Protocol):
    """The unlabelled ground set of a selection."""

    def __len__(self) -> int: ...

    def shards(self) -> Sequence[Shard]:
        """All candidates, each in one shard."""
        ...

    def take(self, index: Int[np.ndarray, " n"]) -> Candidates:
        """The candidates at these positions, in this order."""
        ...


@dataclass(frozen=True)
class ArrayShard:
    """Consecutive candidates of an array, from position `start` on."""

    start: int
    predictions: Float[Array, "n k *outcome"]
    kept_entropies: Callable[[], Array] | None = field(default=None, repr=False, compare=False)

    def load(self) -> Candidates:
        """The candidates, without a copy."""
        index = np.arange(self.start, self.start + self.predictions.shape[0])
        return Candidates(index, self.predictions, self.kept_entropies)

    def __getstate__(self) -> dict[str, Any]:
        """Without the way back to the pool."""
        return {"start": self.start, "predictions": compact(self.predictions), "kept_entropies": None}


@dataclass(frozen=True)
class ArrayPool:
    """A pool in one array (memory-mapped, if you like), read in shards of `shard_size` candidates.

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
        return [
            ArrayShard(i, self.predictions[i:stop, ...], partial(self._entropies_of, slice(i, stop)))
            for i, stop in stops.items()
        ]

    def take(self, index: Int[np.ndarray, " n"]) -> Candidates:
        """The candidates at these positions, copied."""
        return Candidates(index, take(self.predictions, index), partial(self._entropies_of, index))

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


def from_probs(probs: Float[Array, "n k c"]) -> ArrayPool:
    """A pool from p(y_n = c | draw k). The array is used as it is, not copied; a gradient graph is left behind.

    Raises:
        TypeError: if `probs` is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if `probs` has another shape, or a row is negative, not finite or does not sum to one.
    """
    return ArrayPool(detached(checks.probabilities(probs, name="probs")))


def from_log_probs(log_probs: Float[Array, "n k c"]) -> ArrayPool:
    """A pool from log p(y_n = c | draw k) in nats, minus infinity allowed; kept in the dtype that is given.

    Raises:
        TypeError: if `log_probs` is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if `log_probs` has another shape, or a row's exponentials do not sum to one.
    """
    lp = detached(checks.log_probabilities(log_probs))
    xp = namespace(lp)
    # Stored as they came: half precision log-probabilities give rows that miss one by half precision's rounding.
    probs = xp.astype(xp.exp(widened(lp)), lp.dtype)
    return ArrayPool(checks.probabilities(probs, name="exp(log_probs)"))


def from_logits(logits: Float[Array, "n k c"]) -> ArrayPool:
    """A pool from unnormalised log-probabilities, by softmax over the classes; computed in at least float32.

    Raises:
        TypeError: if `logits` is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if `logits` has another shape, or holds NaN or plus infinity.
    """
    z = widened(detached(checks.logits(logits)))
    xp = namespace(z)
    unnormalised = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    return ArrayPool(unnormalised / xp.sum(unnormalised, axis=-1, keepdims=True))


def as_pool(pool: Any) -> Pool:
    """`pool` itself if it is one, otherwise the pool of the probabilities that it holds.

    Raises:
        TypeError, ValueError: as `from_probs`; ValueError if the pool is empty.
    """
    if hasattr(pool, "shards") and hasattr(pool, "take"):
        checks.whole_number(len(pool), "the number of candidates in the pool")
        return pool  # type: ignore[no-any-return]
    return from_probs(pool)
