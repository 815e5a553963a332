"""TwoRounds: each shard chooses a batch by itself, and the batch is chosen among those."""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from infoacq import checks
from infoacq.candidates import Candidates, Pool, Shard
from infoacq.conditioned import Conditioned
from infoacq.maximiser import Map, Maximiser
from infoacq.maximisers.lazy import LazyGreedy
from infoacq.maximisers.racing import RacingGreedy
from infoacq.objective import Objective, is_raced
from infoacq.pool import ArrayPool
from infoacq.selection import Selection


@dataclass(frozen=True)
class TwoRounds:
    """GreeDi: a greedy batch of each shard, then a greedy batch of their union; the better one of all these.

    Each shard is read once, where it is, and only its batch comes back: for pools where even a pass a pick is too much,
    or where there are too many candidates for one number each. A worker must hold one shard.

    With m shards and a batch of b the result is worth at least (1 − 1/e) / min(m, b) of the best one, for a monotone
    submodular objective, however unluckily the pool is cut. If the order of the pool is random it is worth at least
    (1 − 1/e) / 2 of it on average, and mostly all but what greedy choice from the whole gives: see docs/scale.md.

    `maximiser` chooses in both rounds; by default RacingGreedy where the objective can be raced, else LazyGreedy.

    Raises:
        TypeError: if `maximiser` is none.

    Source: Mirzasoleiman et al. 2013, Distributed submodular maximization: identifying representative elements in
    massive data, algorithm 2; Barbosa et al. 2015 (arXiv 1502.02606), theorem 2, for random order.
    """

    maximiser: Maximiser | None = None

    def __post_init__(self) -> None:
        if self.maximiser is not None:
            checks.callable_object(self.maximiser, "maximiser", "LazyGreedy()")

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
        checks.capability(objective, "submodular", "TwoRounds", "Greedy()")
        inner = self.maximiser or (RacingGreedy() if is_raced(objective) else LazyGreedy())
        first_round = partial(_batch_of_shard, objective, objective.init(pool), inner, rngs[:batch_size])
        # Answers may come in any order, or twice: shards have no candidate in common.
        batches: dict[tuple[int, ...], Selection] = {tuple(b.indices): b for b in map(first_round, pool.shards())}
        evaluations = sum(batch.evaluations for batch in batches.values())
        union = np.unique(np.concatenate([np.array(indices, dtype=np.int64) for indices in batches]))
        if not len(union):
            return Selection.of([], evaluations)
        of_union = _batch(objective, objective.init(pool), inner, rngs[:batch_size], pool.take(union))
        best = max([of_union, *(batches[indices] for indices in sorted(batches))], key=_worth)
        return replace(best, evaluations=evaluations + of_union.evaluations)


def _batch_of_shard(
    objective: Objective[Any], state: Any, inner: Maximiser, rngs: Sequence[np.random.Generator], shard: Shard
) -> Selection:
    return _batch(objective, state, inner, rngs, shard.load())


def _batch(
    objective: Objective[Any], state: Any, inner: Maximiser, rngs: Sequence[np.random.Generator], among: Candidates
) -> Selection:
    """The batch of these candidates alone. All are chosen with the same random numbers, so that noise compares."""
    part = Conditioned(objective, state, np.zeros(0, dtype=np.int64), within=among.index)
    batch = inner(part, ArrayPool(among.predictions), len(rngs), deepcopy(rngs))
    return replace(batch, indices=among.index[batch.indices].tolist())


def _worth(selection: Selection) -> float:
    return math.fsum(selection.gains)
