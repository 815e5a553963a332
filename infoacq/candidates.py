"""Candidates, and the protocols of what they are read from: shards and pools."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels
from infoacq._arrays import Array, compact


class KeptEntropies(NamedTuple):
    """Where a pool keeps H[y_n | draw k] of the candidates with these predictions, and of no others."""

    predictions: Array
    find: Callable[[], Array]


@dataclass(frozen=True, eq=False)  # arrays have no one answer to ==
class Candidates:
    """Some candidates of a pool: their positions in it and what each draw predicts of them.

    `dataclasses.replace(candidates, predictions=…)` gives candidates with other predictions.
    """

    index: Int[np.ndarray, " n"]
    predictions: Float[Array, "n k *outcome"]
    kept_entropies: KeptEntropies | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def draw_entropies(self) -> Float[Array, "n k"]:
        """H[y_n | draw k] (nats): what the pool keeps of them, or computed."""
        kept = self.kept_entropies
        if kept is not None and kept.predictions is self.predictions:
            return kept.find()
        return _kernels.draw_entropies(self.predictions)

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


@runtime_checkable
class Parted(Protocol):
    """A pool whose candidates are better read where they are, shard by shard, than brought together first."""

    def parts(self, index: Int[np.ndarray, " n"]) -> Sequence[Shard]:
        """The candidates at these positions, in any order: shards that hold some candidates of one shard each."""
        ...
