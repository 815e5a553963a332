"""Weighted sums of objectives: information and diversity, information less a penalty, …"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import to_host
from infoacq.objective import Objective, is_modular, is_submodular, magnitude
from infoacq.pool import Candidates, Pool
from infoacq.wrappers import _inner

States = tuple[Any, ...]


@dataclass(frozen=True)
class WeightedSum:
    """Σ_i weights_i · objectives_i(batch), in their unit if it is the same for all.

    A negative weight makes a penalty; the sum is then submodular if what is penalised is modular. What one term rules
    out (gain −inf) is ruled out, whatever its weight. Costs and constraints go around the sum, not into it.

    Raises:
        TypeError: if `objectives` are not several, one of them is none, or one with costs or constraints, or a weight
            is no number.
        ValueError: if there is not one finite weight for each objective, or no objective at all.
    """

    objectives: Sequence[Objective[Any]]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        checks.several(self.objectives, "objectives", "(BatchBALD(), EPIG(targets))")
        for term in self.objectives:
            checks.summand(term)
        checks.whole_number(len(self.objectives), "the number of objectives")
        checks.one_each(checks.numbers(self.weights, "weights"), len(self.objectives), "weights", "objectives")

    @property
    def modular(self) -> bool:
        return all(map(is_modular, self.objectives))

    @property
    def submodular(self) -> bool:
        return not self.not_submodular

    @property
    def not_submodular(self) -> str:
        """The reason why gains may grow with the batch; empty if they never do."""
        terms = zip(self.objectives, self.weights, strict=True)
        growing = [type(t).__name__ for t, w in terms if not (is_submodular(t) if w >= 0 else is_modular(t))]
        return f"its {' and '.join(growing)} may add more to a larger batch" if growing else ""

    @property
    def unit(self) -> str:
        units = set(map(_inner.unit, self.objectives))
        return units.pop() if len(units) == 1 else "weighted sum"

    @property
    def magnitude(self) -> float:
        terms = zip(self.objectives, self.weights, strict=True)
        return sum(abs(weight) * magnitude(term) for term, weight in terms)

    @property
    def outcome(self) -> str:
        kinds = set(map(_inner.outcome, self.objectives)) - {"any"}
        return " and ".join(sorted(kinds)) or "any"

    def seeded(self, rng: np.random.Generator) -> "WeightedSum":
        """The sum with the randomness of its terms drawn."""
        return replace(self, objectives=tuple(_inner.seeded(term, rng) for term in self.objectives))

    def init(self, pool: Pool) -> States:
        """The terms' states of the empty batch."""
        return tuple(term.init(pool) for term in self.objectives)

    def gains(self, state: States, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """The weighted sum of the terms' gains of each candidate."""
        terms = zip(self.objectives, self.weights, state, strict=True)
        return sum((_weighted(w, to_host(term.gains(s, candidates))) for term, w, s in terms), np.zeros(1))

    def update(self, state: States, chosen: Candidates, rng: np.random.Generator) -> States:
        """The terms' states with the chosen added."""
        terms = zip(self.objectives, state, strict=True)
        return tuple(term.update(s, chosen, rng) for term, s in terms)

    def standard_errors(self, state: States, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """A bound of the standard error of each gain, whatever the terms' errors have to do with each other."""
        terms = zip(self.objectives, self.weights, state, strict=True)
        return sum((abs(w) * _inner.standard_errors(term, s, candidates) for term, w, s in terms), np.zeros(1))

    def limit(self, pool: Pool) -> float:
        """The weighted sum of the terms' limits: infinite if a term has none, or a weight is not positive."""
        terms = zip(self.objectives, self.weights, strict=True)
        return sum(w * _inner.limit(term, pool) if w > 0 else math.inf for term, w in terms)


def _weighted(weight: float, gains: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """`gains` times `weight`, −inf where they are."""
    ruled_out = np.isneginf(gains)
    return np.where(ruled_out, -np.inf, weight * np.where(ruled_out, 0.0, gains))
