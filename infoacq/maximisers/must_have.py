"""MustHave: candidates that are to be in the batch whatever they are worth, and the rest chosen beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from infoacq import checks
from infoacq._arrays import to_host
from infoacq.conditioned import Conditioned
from infoacq.maximiser import Map, Maximiser
from infoacq.maximisers.lazy import LazyGreedy
from infoacq.maximisers.scoring import standard_error
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class MustHave:
    """The candidates at `positions` first, in this order, and then those that `maximiser` chooses given them.

    They count in batch_size and are returned with their gains, unlike pending ones. The maximiser inside does not know
    of them: `BudgetedGreedy(cost, budget, MustHave(positions))` pays for them, the other way about they come free.
    Objectives that are not submodular need `maximiser=Greedy()`.

    Raises:
        TypeError: if they are not several, or `maximiser` is none.
        TypeError, ValueError: when choosing, if they are no distinct positions of the pool, are more than batch_size,
            or the objective rules one out, as constraints do.
    """

    positions: Iterable[SupportsIndex]
    maximiser: Maximiser = field(default_factory=LazyGreedy)

    def __post_init__(self) -> None:
        checks.several(self.positions, "positions that must be had", "[3, 5]")
        checks.callable_object(self.maximiser, "maximiser", "Greedy()")

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Choose `batch_size` candidates, fewer if the objective rules out (gain −inf) all that are left."""
        first = checks.positions(self.positions, len(pool), "positions that must be had")
        checks.enough(batch_size, len(first), "the number of positions that must be had", "the batch")
        state, picks = objective.init(pool), list[Pick]()
        for index, rng in zip(first, rngs[: len(first)], strict=True):
            chosen = pool.take(np.array([index]))
            gains = to_host(objective.gains(state, chosen))
            checks.gains(gains, chosen.index, objective)
            checks.allowed(int(index), float(gains[0]), objective)
            picks.append(Pick(int(index), float(gains[0]), standard_error(objective, state, chosen)))
            state = objective.update(state, chosen, rng)
        must = Selection.of(picks, evaluations=len(picks))
        if len(first) == batch_size:
            return must
        given = Conditioned(objective, state, first)
        return must.followed_by(self.maximiser(given, pool, batch_size - len(first), rngs[len(first) :], map))
