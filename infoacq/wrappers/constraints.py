"""Which candidates may not be chosen any more: constraints of `Constrained`, one class each.

A constraint never sees gains. What it has ruled out stays ruled out, on which lazy evaluation relies.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, SupportsIndex, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from infoacq import checks
from infoacq.pool import Pool

State = TypeVar("State")

# The part of a budget by which the rounding of sums may overspend it.
SLACK = 1e-9


@runtime_checkable
class Constraint(Protocol[State]):
    """A condition on batches that is kept as a batch grows."""

    def init(self, pool: Pool) -> State:
        """The state of the empty batch."""
        ...

    def ruled_out(self, state: State, index: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Which of the candidates at these positions may not be added to the batch."""
        ...

    def update(self, state: State, index: Int[np.ndarray, " n"]) -> State:
        """The state with these candidates in the batch. The old state stays as it was."""
        ...


@dataclass(frozen=True, eq=False)
class Budget:
    """The costs of the batch are at most `budget` together; candidates that cost more than is left are passed over.

    `cost` holds one number above 0 for each candidate of the pool. Pending candidates are part of the batch: theirs
    are counted.

    Raises:
        TypeError: if costs or budget are no numbers.
        ValueError: if one is not finite or not above 0, the budget pays for no candidate, or (when choosing) there is
            not one cost a candidate.
    """

    cost: Any
    budget: float

    def __post_init__(self) -> None:
        checks.real_number(self.budget, "budget", above=0.0)
        cheapest = float(self._costs.min()) / (1 + SLACK)
        checks.real_number(self.budget, "budget, to pay for the cheapest candidate,", least=cheapest)

    @cached_property
    def _costs(self) -> Float[np.ndarray, " n"]:
        return checks.costs(self.cost)

    def init(self, pool: Pool) -> float:
        """Nothing spent."""
        checks.one_each(self._costs, len(pool), "cost", "candidates of the pool")
        return 0.0

    def ruled_out(self, spent: float, index: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Those that cost more than is left, but for the rounding of sums."""
        too_much: np.ndarray = spent + self._costs[index] > self.budget * (1 + SLACK)
        return too_much

    def update(self, spent: float, index: Int[np.ndarray, " n"]) -> float:
        """Their costs added."""
        return spent + float(self._costs[index].sum())


@dataclass(frozen=True, eq=False)
class AtMostPerGroup:
    """At most `most` candidates of each group are chosen: frames of one video, slides of one patient.

    `groups` holds a name (or number) for each candidate of the pool. Greedy selection of a monotone submodular
    objective is then worth at least half of the best batch (Fisher, Nemhauser and Wolsey 1978, for matroids).

    Raises:
        TypeError: if `most` is no whole number, or `groups` are no names.
        ValueError: if it is below 1, a group is NaN, or (when choosing) there is not one group a candidate.
    """

    groups: Any
    most: int = 1

    def __post_init__(self) -> None:
        checks.whole_number(self.most, "most")
        _ = self._group

    @cached_property
    def _group(self) -> Int[np.ndarray, " n"]:
        return checks.group_numbers(self.groups)

    def init(self, pool: Pool) -> Int[np.ndarray, " groups"]:
        """None of any group."""
        checks.one_each(self._group, len(pool), "groups", "candidates of the pool")
        return np.zeros(int(self._group.max()) + 1, dtype=np.int64)

    def ruled_out(self, taken: Int[np.ndarray, " groups"], index: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Those of full groups."""
        full: np.ndarray = taken[self._group[index]] >= self.most
        return full

    def update(self, taken: Int[np.ndarray, " groups"], index: Int[np.ndarray, " n"]) -> Int[np.ndarray, " groups"]:
        """Their groups counted."""
        return taken + np.bincount(self._group[index], minlength=len(taken))


@dataclass(frozen=True)
class MustNotHave:
    """None of the candidates at `positions` is chosen.

    Raises:
        TypeError: if they are not several.
        TypeError, ValueError: when choosing, if they are no distinct positions of the pool.
    """

    positions: Iterable[SupportsIndex]

    def __post_init__(self) -> None:
        checks.several(self.positions, "positions that must not be had", "[3, 5]")

    def init(self, pool: Pool) -> Int[np.ndarray, " positions"]:
        """The positions."""
        return checks.positions(self.positions, len(pool), "positions that must not be had")

    def ruled_out(self, never: Int[np.ndarray, " positions"], index: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Those at the positions."""
        return np.isin(index, never)

    def update(
        self, never: Int[np.ndarray, " positions"], index: Int[np.ndarray, " n"]
    ) -> Int[np.ndarray, " positions"]:
        """The same positions."""
        return never
