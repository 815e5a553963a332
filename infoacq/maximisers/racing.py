"""RacingGreedy: LazyGreedy in which most candidates are ruled out on a small sample of the configurations."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq import checks
from infoacq.maximiser import Map
from infoacq.maximisers.lazy import lazily
from infoacq.maximisers.scoring import Scored, compare_some, tie
from infoacq.objective import Bounded, Exhaustible, Objective, is_raced
from infoacq.pool import Pool
from infoacq.selection import Selection


@dataclass(frozen=True)
class RacingGreedy:
    """The batch of LazyGreedy, but for a small and known chance at each pick, for a fraction of its work.

    All gains fall together as a batch grows, so old gains alone leave a large part of the pool to be evaluated anew.
    Here those left by their old gain race first: on `sizes` of the configurations in turn, each against the most
    promising candidate, which is evaluated on all of them. A candidate drops out when its difference to that one plus
    `z` standard errors of the difference is negative. Only those that stay are evaluated on all configurations.

    The best candidate is dropped with a chance of about len(sizes) · Φ(−z) at a pick if it is as good as the reference,
    and with less the better it is; what is lost then is about a standard error of the difference.

    Once all that can still be gained is less than `negligible` of the most that a batch can be worth, the best of the
    `first` most promising is taken: all further picks together lose no more than that.

    Source: Maron and Moore 1997, The racing algorithm; Minoux 1978 for the old gains as bounds.
    """

    z: float = 4.0
    sizes: tuple[int, ...] = (32, 128)
    first: int = 32
    negligible: float = 1e-3

    def __post_init__(self) -> None:
        checks.real_number(self.z, "z", above=0.0)
        checks.real_number(self.negligible, "negligible", least=0.0)
        checks.whole_number(self.first, "first")
        for size in self.sizes:
            checks.whole_number(size, "sizes", least=2)

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
            ValueError: if the objective does not say that it is submodular, cannot be raced, or returns a gain that
                is no number.
        """
        checks.capability(objective, "submodular", "RacingGreedy", "Greedy()")
        checks.raced(is_raced(objective), objective)
        race = partial(self._race, objective, pool, map)
        return lazily(objective, pool, batch_size, rngs, map, self.first, race)

    def _race(
        self,
        objective: Any,
        pool: Pool,
        map: Map,
        state: Any,
        bounds: Scored,
        contenders: Int[np.ndarray, " n"],
        leader: int,
        rng: np.random.Generator,
    ) -> int:
        """Lower the bounds of `contenders` to what samples of the configurations leave possible."""
        gain, evaluations = bounds.gains[leader], 0
        if self._little_is_left(objective, state, pool):
            # Below the leader, in the order in which they are.
            bounds.gains[contenders] -= bounds.gains[contenders].max() - gain + 2 * tie(bounds)
            return evaluations
        reference = pool.take(np.array([leader]))
        # A child of the step's generator: the draws of the step itself stay as they are without a race.
        for size, child in zip(self.sizes, rng.spawn(len(self.sizes)), strict=True):
            sketch = objective.sketch(state, size, child)
            if sketch is state or not len(contenders):
                break
            difference, error = compare_some(objective, sketch, pool, contenders, reference, map)
            evaluations += len(contenders)
            bounds.gains[contenders] = np.minimum(bounds.gains[contenders], gain + difference + self.z * error)
            contenders = contenders[bounds.gains[contenders] >= gain - tie(bounds)]
        return evaluations

    def _little_is_left(self, objective: Any, state: Any, pool: Pool) -> bool:
        if not (isinstance(objective, Exhaustible) and isinstance(objective, Bounded)):
            return False
        left = objective.remaining(state)
        return bool(np.isfinite(left) and left <= self.negligible * objective.limit(pool))
