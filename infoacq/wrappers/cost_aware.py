"""Candidates ranked by what they are worth for their cost."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import to_host
from infoacq.objective import Objective, is_modular, is_submodular, magnitude
from infoacq.pool import Candidates, Pool
from infoacq.selection import Selection
from infoacq.wrappers import _inner


@dataclass(frozen=True, eq=False)
class CostAware:
    """`objective` with candidates ranked by gain / cost; the selection reports the gains themselves.

    `cost` holds one number above 0 for each candidate of the pool, in any unit: hours, euros, numbers of pixels. A
    candidate's bound in lazy evaluation stays one, since its cost does not change. For a budget see `Budget`, and
    `BudgetedGreedy` for a guarantee, which ranking by gain / cost alone has not.

    Raises:
        TypeError: if `objective` is none, or costs are no numbers.
        ValueError: if a cost is not finite and above 0, or (when choosing) there is not one a candidate.

    Source: Leskovec et al. 2007, Cost-effective outbreak detection in networks.
    """

    objective: Objective[Any]
    cost: Any

    def __post_init__(self) -> None:
        checks.objective(self.objective)
        _ = self._relative

    @cached_property
    def _relative(self) -> Float[np.ndarray, " n"]:
        """Costs as parts of the largest, so that their unit changes nothing: gains are compared to a tolerance."""
        costs = checks.costs(self.cost)
        relative: np.ndarray = costs / costs.max()
        return relative

    @property
    def modular(self) -> bool:
        return is_modular(self.objective)

    @property
    def submodular(self) -> bool:
        return is_submodular(self.objective)

    @property
    def unit(self) -> str:
        return _inner.unit(self.objective)

    @property
    def magnitude(self) -> float:
        return magnitude(self.objective)

    @property
    def outcome(self) -> str:
        return _inner.outcome(self.objective)

    def seeded(self, rng: np.random.Generator) -> "CostAware":
        """The objective with its randomness drawn."""
        return replace(self, objective=_inner.seeded(self.objective, rng))

    def reported(self, selection: Selection) -> Selection:
        """The selection with the objective's own gains."""
        return _inner.reported(self.objective, self.without_cost(selection))

    def without_cost(self, selection: Selection) -> Selection:
        """The selection with gains multiplied by the costs that they were divided by."""
        costs = self._relative[selection.indices].tolist()
        gains = [gain * cost for gain, cost in zip(selection.gains, costs, strict=True)]
        errors = [error * cost for error, cost in zip(selection.standard_errors, costs, strict=True)]
        return replace(selection, gains=gains, standard_errors=errors)

    def limit(self, pool: Pool) -> float:
        """The objective's limit."""
        return _inner.limit(self.objective, pool)

    def init(self, pool: Pool) -> Any:
        """The objective's state of the empty batch."""
        checks.one_each(self._relative, len(pool), "cost", "candidates of the pool")
        return self.objective.init(pool)

    def gains(self, state: Any, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """The objective's gain of each candidate for its cost, this as a part of the largest."""
        per_cost: np.ndarray = to_host(self.objective.gains(state, candidates)) / self._relative[candidates.index]
        return per_cost

    def update(self, state: Any, chosen: Candidates, rng: np.random.Generator) -> Any:
        """The objective's state with the chosen added."""
        return self.objective.update(state, chosen, rng)

    def standard_errors(self, state: Any, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """The standard error of each gain for its cost."""
        errors = _inner.standard_errors(self.objective, state, candidates)
        per_cost: np.ndarray = errors / self._relative[candidates.index]
        return per_cost
