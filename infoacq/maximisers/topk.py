"""TopK: the best candidates one by one, for objectives whose gains do not depend on each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infoacq import checks
from infoacq.maximiser import Map
from infoacq.maximisers.scoring import best, score_pool, standard_error
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class TopK:
    """The candidates of the largest gains, in one pass: the best batch of a modular objective."""

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
            ValueError: if the objective does not say that it is modular, or returns a gain that is no number.
        """
        checks.capability(objective, "modular", "TopK", "Greedy()")
        state = objective.init(pool)
        scored = score_pool(objective, state, pool, map)
        picks = []
        for _ in range(batch_size):
            at = best(scored)
            if at is None:
                break
            error = standard_error(objective, state, pool.take(np.array([at])))
            picks.append(Pick(at, float(scored.gains[at]), error))
            scored.gains[at] = -np.inf
        return Selection.of(picks, evaluations=len(pool))
