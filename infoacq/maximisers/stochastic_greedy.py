"""StochasticGreedy: greedy choice among a fresh random part of the pool at each pick."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq import checks
from infoacq.maximiser import Map
from infoacq.maximisers.scoring import best, score_some, standard_error
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class StochasticGreedy:
    """The best of n/b · log(1/epsilon) random candidates at each of b picks: n log(1/epsilon) evaluations in all.

    For a monotone submodular objective the batch is worth, on average over the draws, at least 1 − 1/e − epsilon of the
    best one, whatever the batch size.

    Raises:
        TypeError: if `epsilon` is no number.
        ValueError: if it is not between 0 and 1.

    Source: Mirzasoleiman et al. 2015 (arXiv 1409.7938), Lazier than lazy greedy, theorem 1.
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        checks.real_number(self.epsilon, "epsilon", above=0.0, below=1.0)

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
        size = math.ceil(len(pool) / batch_size * math.log(1 / self.epsilon))
        left = np.arange(len(pool))
        for rng in rngs[:batch_size]:
            # A child of the step's generator: what the objective draws with that one is the same for every maximiser.
            pick, looked_at = _best_of_some(objective, state, pool, rng.spawn(1)[0].permutation(left), size, map)
            evaluations += looked_at
            if pick is None:
                break
            picks.append(pick)
            left = left[left != pick.candidate]
            if len(picks) < batch_size:
                state = objective.update(state, pool.take(np.array([pick.candidate])), rng)
        return Selection.of(picks, evaluations)


def _best_of_some(
    objective: Objective[Any], state: Any, pool: Pool, order: Int[np.ndarray, " left"], size: int, map: Map
) -> tuple[Pick | None, int]:
    """The best of the first `size` candidates, of the next if all of these are ruled out; how many were evaluated."""
    for start in range(0, len(order), size):
        scored = score_some(objective, state, pool, np.sort(order[start : start + size]), map)
        at = best(scored)
        if at is not None:
            candidate = int(scored.index[at])
            error = standard_error(objective, state, pool.take(np.array([candidate])))
            return Pick(candidate, float(scored.gains[at]), error), start + len(scored.index)
    return None, len(order)
