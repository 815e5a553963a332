"""LazyGreedy: the batch of Greedy, evaluating only those candidates whose old gain leaves them a chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infoacq import checks
from infoacq.maximiser import Map
from infoacq.maximisers.scoring import Scored, best, score_pool, score_some, standard_error, tie
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class LazyGreedy:
    """Greedy with gains of earlier steps as upper bounds of today's, which submodularity makes them.

    Candidates are evaluated in the order of their bounds, `first` of them at a time and then twice as many each
    time, until the best evaluated gain is above every bound that is left. Where gains are sampled the bounds hold
    up to sampling noise.

    Source: Minoux 1978, Accelerated greedy algorithms for maximizing submodular set functions.
    """

    first: int = 64

    def __post_init__(self) -> None:
        checks.whole_number(self.first, "first")

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Choose `batch_size` candidates, fewer if the objective rules out (gain −inf) all that are left.

        Raises:
            ValueError: if the objective does not say that it is submodular, or returns a gain that is no number.
        """
        checks.capability(objective, "submodular", "LazyGreedy", "Greedy()")
        state, picks = objective.init(pool), list[Pick]()
        bounds = score_pool(objective, state, pool, map)
        evaluations = len(pool)
        for rng in rngs[:batch_size]:
            if picks:
                evaluations += self._refresh(objective, state, pool, bounds, map)
            at = best(bounds)
            if at is None:
                break
            chosen = pool.take(np.array([at]))
            picks.append(Pick(at, float(bounds.gains[at]), standard_error(objective, state, chosen)))
            bounds.gains[at] = -np.inf
            if len(picks) < batch_size:
                state = objective.update(state, chosen, rng)
        return Selection.of(picks, evaluations)

    def _refresh(self, objective: Objective[Any], state: Any, pool: Pool, bounds: Scored, map: Map) -> int:
        """Replace, in `bounds`, the old gains that may hide the best candidate; return how many were evaluated."""
        stale = np.flatnonzero(bounds.gains > -np.inf)
        # Of equal bounds the lowest position first, as ties go to it.
        stale = stale[np.argsort(-bounds.gains[stale], kind="stable")]
        leader, done, size = -np.inf, 0, self.first
        while done < len(stale) and bounds.gains[stale[done]] >= leader - tie(bounds):
            scored = score_some(objective, state, pool, stale[done : done + size], map)
            bounds.gains[scored.index] = scored.gains
            leader = max(leader, float(scored.gains.max()))
            done, size = done + len(scored.index), size * 2
        return done
