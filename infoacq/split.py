"""Which points of a data set are labelled, held out or in the pool, and what pool positions stand for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np
from jaxtyping import Int

from infoacq import checks


@dataclass(frozen=True, eq=False)
class PoolSplit:
    """A data set of `size` points divided into labelled, held out (validation, say) and pool.

    Positions that a selection returns count the pool; `pool[positions]` are the data set's indices.
    Immutable: `acquire` returns a new split. `labelled` is in the order of labelling, `pool` ascending.
    """

    size: int
    labelled: Int[np.ndarray, " labelled"]
    held_out: Int[np.ndarray, " held_out"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PoolSplit) and self.to_json() == other.to_json()

    @classmethod
    def start(
        cls, size: int, *, labelled: Iterable[SupportsIndex] = (), held_out: Iterable[SupportsIndex] = ()
    ) -> "PoolSplit":
        """The split of `size` points with these indices labelled and held out, and the rest in the pool.

        Raises:
            TypeError: if an index is no whole number.
            ValueError: if an index is outside of the data set, comes twice, or is both labelled and held out.
        """
        size = checks.whole_number(size, "size")
        first = checks.positions(labelled, size, "labelled", "the data set")
        kept = checks.positions(held_out, size, "held_out", "the data set")
        checks.disjoint(first, kept, "labelled", "held_out")
        return cls(size, first, kept)

    @classmethod
    def balanced(
        cls, targets: Iterable[SupportsIndex], *, labelled_per_class: int, held_out: int = 0, seed: int
    ) -> "PoolSplit":
        """A random split that depends on its seed alone, with as many labelled points of every class.

        Raises:
            TypeError: if a number is no whole number.
            ValueError: if a class has too few points, or too few are left to hold out.
        """
        classes = np.asarray(list(targets))
        checks.whole_number(len(classes), "the number of targets")
        each = checks.whole_number(labelled_per_class, "labelled_per_class", least=0)
        aside = checks.whole_number(held_out, "held_out", least=0)
        order = np.random.default_rng(checks.whole_number(seed, "seed", least=0)).permutation(len(classes))
        members = {label: order[classes[order] == label] for label in np.unique(classes)}
        checks.enough(min(map(len, members.values()), default=0), each, "labelled_per_class", "the smallest class")
        first = np.concatenate([members[label][:each] for label in members])
        left = order[~np.isin(order, first)]
        checks.enough(len(left), aside, "held_out", "what the labelled points leave")
        return cls.start(len(classes), labelled=first, held_out=left[:aside])

    @cached_property
    def pool(self) -> Int[np.ndarray, " pool"]:
        """The data set's indices of the candidates: `pool[p]` is the one at position `p`."""
        free = np.ones(self.size, dtype=bool)
        free[self.labelled] = free[self.held_out] = False
        return np.flatnonzero(free)

    def indices(self, positions: Iterable[SupportsIndex]) -> Int[np.ndarray, " chosen"]:
        """The data set's indices at these pool positions, in the order given.

        Raises:
            TypeError: if a position is no whole number.
            ValueError: if one is negative, outside of the pool or comes twice.
        """
        found: np.ndarray = self.pool[checks.positions(positions, len(self.pool), "positions")]
        return found

    def acquire(self, positions: Iterable[SupportsIndex]) -> "PoolSplit":
        """The split after the points at these pool positions have been labelled, in the order given.

        Raises:
            TypeError: if a position is no whole number.
            ValueError: if one is negative, outside of the pool or comes twice.
        """
        return replace(self, labelled=np.concatenate([self.labelled, self.indices(positions)]))

    def subsample(self, size: int, seed: int) -> Int[np.ndarray, " size"]:
        """`size` pool positions at random, ascending: predictions of `pool[these]` make a smaller pool.

        A position `q` of the smaller pool is `these[q]` of this one, so `acquire(these[selection.indices])`.

        Raises:
            TypeError: if an argument is no whole number.
            ValueError: if `size` is larger than the pool.
        """
        checks.enough(len(self.pool), checks.whole_number(size, "size"), "size", "the pool")
        rng = np.random.default_rng(checks.whole_number(seed, "seed", least=0))
        return np.sort(rng.choice(len(self.pool), size, replace=False))

    def to_json(self) -> dict[str, Any]:
        """The split in types that json writes."""
        return {"size": self.size, "labelled": self.labelled.tolist(), "held_out": self.held_out.tolist()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "PoolSplit":
        """The split that `to_json` wrote.

        Raises:
            KeyError: if an entry is missing.
            TypeError, ValueError: as `start`.
        """
        return cls.start(stored["size"], labelled=stored["labelled"], held_out=stored["held_out"])
