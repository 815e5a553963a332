"""Greedy: every candidate evaluated anew for every pick."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infoacq.maximiser import Map
from infoacq.maximisers.scoring import best, score_pool, standard_error
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class Greedy:
    """The candidate of the largest gain, again and again.

    For a monotone submodular objective the batch is worth at least 1 − 1/e of the best one.

    Source: Nemhauser, Wolsey and Fisher 1978, theorem 4.2.
    """

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
            ValueError: if the objective returns a gain that is no number.
        """
        state, picks, evaluations = objective.init(pool), list[Pick](), 0
        for rng in rngs[:batch_size]:
            scored = score_pool(objective, state, pool, map)
            evaluations += len(pool)
            scored.gains[[pick.candidate for pick in picks]] = -np.inf
            at = best(scored)
            if at is None:
                break
            chosen = pool.take(np.array([at]))
            picks.append(Pick(at, float(scored.gains[at]), standard_error(objective, state, chosen)))
            if len(picks) < batch_size:
                state = objective.update(state, chosen, rng)
        return Selection.of(picks, evaluations)
