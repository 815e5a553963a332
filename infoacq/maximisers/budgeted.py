"""BudgetedGreedy: the batch of a total cost, chosen twice over and the better one kept."""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from infoacq import checks
from infoacq.maximiser import Map, Maximiser
from infoacq.maximisers.lazy import LazyGreedy
from infoacq.objective import Objective, Reported
from infoacq.pool import Pool
from infoacq.selection import Selection
from infoacq.wrappers import Budget, Constrained, CostAware


@dataclass(frozen=True, eq=False)
class BudgetedGreedy:
    """The better of greedy by gain / cost and greedy by gain, both within `budget`.

    For a monotone submodular objective the batch is worth at least ½ (1 − 1/e) of the best one within the budget,
    unless it is cut short by batch_size, which is the most candidates that are chosen: ask for as many as could be
    paid. Each alone can be arbitrarily bad. Objectives that are not submodular need `maximiser=Greedy()`, and have no
    such guarantee. `cost` holds one number above 0 for each candidate of the pool. Pending
    candidates are not paid from this budget.

    Raises:
        TypeError: if costs or budget are no numbers.
        ValueError: if one is not finite and above 0, the budget pays for no candidate, or (when choosing) there is not
            one cost a candidate.

    Source: Leskovec et al. 2007, Cost-effective outbreak detection in networks; Khuller, Moss and Naor 1999, The
    budgeted maximum coverage problem.
    """

    cost: Any
    budget: float
    maximiser: Maximiser = field(default_factory=LazyGreedy)

    def __post_init__(self) -> None:
        _ = Budget(self.cost, self.budget)
        checks.callable_object(self.maximiser, "maximiser", "Greedy()")

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Choose at most `batch_size` candidates within the budget.

        Raises:
            ValueError: as `maximiser` does.
        """
        within = [Budget(self.cost, self.budget)]
        by_cost = CostAware(objective, self.cost)
        # Both from the same random numbers, so that sampled scores are as comparable as can be.
        cheap = self.maximiser(Constrained(by_cost, within), pool, batch_size, deepcopy(rngs), map)
        plain = self.maximiser(Constrained(objective, within), pool, batch_size, rngs, map)
        better = max(plain, by_cost.without_cost(cheap), key=partial(_worth, objective))
        return replace(better, evaluations=cheap.evaluations + plain.evaluations)


def _worth(objective: Objective[Any], selection: Selection) -> float:
    """What the selection is worth, in the measure that the objective reports."""
    return math.fsum((objective.reported(selection) if isinstance(objective, Reported) else selection).gains)
