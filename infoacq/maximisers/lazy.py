"""LazyGreedy: the batch of Greedy, evaluating only those candidates whose old gain leaves them a chance."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq import checks
from infoacq.maximiser import Map
from infoacq.maximisers.scoring import Scored, best, score_pool, score_some, standard_error, tie
from infoacq.objective import Exhaustible, Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection

Tighten = Callable[[Any, Scored, Int[np.ndarray, " n"], int, np.random.Generator], int]
"""(state, bounds, contenders, leader, rng): lower bounds of contenders in place, return how many were evaluated."""


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
        return lazily(objective, pool, batch_size, rngs, map, self.first)


def lazily(
    objective: Objective[Any],
    pool: Pool,
    batch_size: int,
    rngs: Sequence[np.random.Generator],
    map: Map,
    first: int,
    tighten: Tighten | None = None,
) -> Selection:
    """Greedy choice with old gains as bounds, which `tighten` may lower before candidates are evaluated."""
    state, picks = objective.init(pool), list[Pick]()
    bounds = score_pool(objective, state, pool, map)
    evaluations = len(pool)
    for rng in rngs[:batch_size]:
        if picks:
            evaluations += _refresh(objective, state, pool, bounds, map, first, tighten, rng)
        at = best(bounds)
        if at is None:
            break
        chosen = pool.take(np.array([at]))
        picks.append(Pick(at, float(bounds.gains[at]), standard_error(objective, state, chosen)))
        bounds.gains[at] = -np.inf
        if len(picks) < batch_size:
            state = objective.update(state, chosen, rng)
    return Selection.of(picks, evaluations)


def _refresh(
    objective: Objective[Any],
    state: Any,
    pool: Pool,
    bounds: Scored,
    map: Map,
    first: int,
    tighten: Tighten | None,
    rng: np.random.Generator,
) -> int:
    """Replace, in `bounds`, the old gains that may hide the best candidate; return how many were evaluated."""
    left = _falling(bounds, np.flatnonzero(bounds.gains > -np.inf))
    if isinstance(objective, Exhaustible) and objective.remaining(state) <= 8 * bounds.resolution:
        # Nothing but rounding is left to gain: all are equal, and the lowest position is next.
        bounds.gains[left] = np.minimum(bounds.gains[left], 0.0)
        left = np.sort(left)[:1]
    leader, evaluations, size = -1, 0, first
    while len(left):
        scored = score_some(objective, state, pool, left[:size], map)
        bounds.gains[scored.index] = scored.gains
        evaluations += len(scored.index)
        top = int(scored.index[np.argmax(scored.gains)])
        leader = top if leader < 0 or bounds.gains[top] > bounds.gains[leader] else leader
        left = _contenders(bounds, left[size:], leader)
        if tighten and size == first and len(left) > first:
            evaluations += tighten(state, bounds, left, leader, rng)
            left = _falling(bounds, _contenders(bounds, left, leader))
        size *= 2
    return evaluations


def _falling(bounds: Scored, index: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """`index` by falling bounds; of equal ones the lowest position first, as ties go to it."""
    index = np.sort(index)
    falling: np.ndarray = index[np.argsort(-bounds.gains[index], kind="stable")]
    return falling


def _contenders(bounds: Scored, index: Int[np.ndarray, " n"], leader: int) -> Int[np.ndarray, " left"]:
    """Those of `index` whose bounds are not below the leader's gain."""
    left: np.ndarray = index[bounds.gains[index] >= bounds.gains[leader] - tie(bounds)]
    return left
