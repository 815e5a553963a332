"""An objective given that some candidates are chosen already: labels that are being waited for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks
from infoacq._arrays import Array, from_host, ruled_out, to_host
from infoacq.objective import Estimated, Exhaustible, Objective, Raced, is_modular, is_raced, is_submodular, magnitude
from infoacq.pool import Candidates, Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class Conditioned:
    """`objective` from `state` on, with the candidates at `excluded` worth −inf: they are never chosen.

    `within` says where in the whole pool the candidates are that it is asked about, if these are a part of it that is
    numbered anew.
    """

    objective: Objective[Any]
    state: Any
    excluded: Int[np.ndarray, " pending"]
    within: Int[np.ndarray, " part"] | None = None

    @property
    def modular(self) -> bool:
        return is_modular(self.objective)

    @property
    def submodular(self) -> bool:
        return is_submodular(self.objective)

    @property
    def magnitude(self) -> float:
        return magnitude(self.objective)

    def init(self, pool: Pool) -> Any:
        """The state after the excluded candidates."""
        return self.state

    def gains(self, state: Any, candidates: Candidates) -> Float[Array, " n"]:
        """The objective's gains, −inf for the excluded."""
        candidates = self._in_whole_pool(candidates)
        gains = self.objective.gains(state, candidates)
        excluded = np.isin(candidates.index, self.excluded)
        return ruled_out(gains, excluded) if excluded.any() else gains

    def update(self, state: Any, chosen: Candidates, rng: np.random.Generator) -> Any:
        """The objective's update."""
        return self.objective.update(state, self._in_whole_pool(chosen), rng)

    def remaining(self, state: Any) -> float:
        """What is left by the objective; infinite if it does not know."""
        return self.objective.remaining(state) if isinstance(self.objective, Exhaustible) else np.inf

    @property
    def raced(self) -> bool:
        return is_raced(self.objective)

    def sketch(self, state: Any, size: int, rng: np.random.Generator) -> Any:
        """The objective's sketch."""
        return cast(Raced, self.objective).sketch(state, size, rng)

    def differences(
        self, state: Any, candidates: Candidates, reference: Candidates
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """The objective's differences: those ruled out by their gain never race."""
        raced = cast(Raced, self.objective)
        return raced.differences(state, self._in_whole_pool(candidates), self._in_whole_pool(reference))

    def standard_errors(self, state: Any, candidates: Candidates) -> Float[Array, " n"]:
        """The objective's standard errors, 0 if it has none."""
        if isinstance(self.objective, Estimated):
            return self.objective.standard_errors(state, self._in_whole_pool(candidates))
        return from_host(np.zeros(len(candidates)), like=candidates.predictions)

    def _in_whole_pool(self, candidates: Candidates) -> Candidates:
        return candidates if self.within is None else replace(candidates, index=self.within[candidates.index])


def condition(
    objective: Objective[Any],
    pool: Pool,
    pending: Int[np.ndarray, " pending"],
    rngs: Sequence[np.random.Generator],
) -> tuple[Conditioned, Selection]:
    """The objective given the pending candidates, and these as a selection."""
    state, picks = objective.init(pool), list[Pick]()
    for index, rng in zip(pending, rngs, strict=True):
        chosen = pool.take(np.array([index]))
        gains = to_host(objective.gains(state, chosen))
        checks.gains(gains, chosen.index, objective)
        # What is pending has been chosen, even where a constraint would rule it out: it is then said to add nothing.
        picks.append(Pick(int(index), 0.0 if gains[0] == -np.inf else float(gains[0]), 0.0))
        state = objective.update(state, chosen, rng)
    return Conditioned(objective, state, pending), Selection.of(picks, len(picks))
