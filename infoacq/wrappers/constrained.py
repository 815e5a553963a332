"""Any objective under constraints: what may not be chosen any more has gain −inf."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import Array, ruled_out
from infoacq.objective import Objective, Raced, is_raced, is_submodular, magnitude
from infoacq.pool import Candidates, Pool
from infoacq.selection import Selection
from infoacq.wrappers import _inner
from infoacq.wrappers.constraints import Constraint

States = tuple[Any, tuple[Any, ...]]


@dataclass(frozen=True)
class Constrained:
    """`objective` under `constraints`: `Constrained(BatchBALD(), [AtMostPerGroup(video, 2), Budget(minutes, 60)])`.

    A selection ends early when nothing may be chosen any more. Gains still never grow if those of the objective never
    do, so lazy evaluation and racing hold. Pending candidates count as chosen.

    Raises:
        TypeError: if `objective` is none, `constraints` are not several, or one of them lacks one of its verbs.
    """

    objective: Objective[Any]
    constraints: Sequence[Constraint[Any]]

    def __post_init__(self) -> None:
        checks.objective(self.objective)
        checks.several(self.constraints, "constraints", "[AtMostPerGroup(groups)]")
        for constraint in self.constraints:
            checks.constraint(constraint)

    @property
    def submodular(self) -> bool:
        return is_submodular(self.objective)

    @property
    def raced(self) -> bool:
        return is_raced(self.objective)

    @property
    def unit(self) -> str:
        return _inner.unit(self.objective)

    @property
    def magnitude(self) -> float:
        return magnitude(self.objective)

    @property
    def outcome(self) -> str:
        return _inner.outcome(self.objective)

    def seeded(self, rng: np.random.Generator) -> "Constrained":
        """The objective with its randomness drawn."""
        return replace(self, objective=_inner.seeded(self.objective, rng))

    def reported(self, selection: Selection) -> Selection:
        """The selection as the objective reports it."""
        return _inner.reported(self.objective, selection)

    def limit(self, pool: Pool) -> float:
        """The objective's limit."""
        return _inner.limit(self.objective, pool)

    def init(self, pool: Pool) -> States:
        """The objective's and the constraints' states of the empty batch."""
        return self.objective.init(pool), tuple(constraint.init(pool) for constraint in self.constraints)

    def gains(self, state: States, candidates: Candidates) -> Float[Array, " n"]:
        """The objective's gains, −inf for what may not be chosen."""
        masks = (rule.ruled_out(s, candidates.index) for rule, s in zip(self.constraints, state[1], strict=True))
        excluded = reduce(np.logical_or, masks, np.zeros(len(candidates), dtype=bool))
        return ruled_out(self.objective.gains(state[0], candidates), excluded)

    def update(self, state: States, chosen: Candidates, rng: np.random.Generator) -> States:
        """The objective's and the constraints' states with the chosen added."""
        rules = tuple(rule.update(s, chosen.index) for rule, s in zip(self.constraints, state[1], strict=True))
        return self.objective.update(state[0], chosen, rng), rules

    def standard_errors(self, state: States, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """The standard errors of the objective's gains."""
        return _inner.standard_errors(self.objective, state[0], candidates)

    def sketch(self, state: States, size: int, rng: np.random.Generator) -> States:
        """The objective's sketch, and the constraints' states as they are; `state` itself if nothing is left out."""
        sketch = cast(Raced, self.objective).sketch(state[0], size, rng)
        return state if sketch is state[0] else (sketch, state[1])

    def differences(
        self, state: States, candidates: Candidates, reference: Candidates
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """The objective's differences. What a constraint rules out may win a race and then has gain −inf."""
        return cast(Raced, self.objective).differences(state[0], candidates, reference)
