"""Stochastic batches: candidates drawn without replacement, each by its own gain, in one pass over the pool.

The draw is Gumbel top-k: noise of a Gumbel distribution on the logarithm of the weights, and the largest are a draw in
proportion to the weights, one after the other and without replacement (Kool et al. 2019, arXiv 1903.06059).

Source: Kirsch et al. 2021 (arXiv 2106.12059), Stochastic batch acquisition; `coldness` is the paper's β, one over
the temperature: the colder, the nearer to the candidates of the largest gains.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import to_host
from infoacq.maximiser import Map
from infoacq.maximisers.scoring import score_pool, standard_error, tie
from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Pick, Selection


@dataclass(frozen=True)
class PowerSampling:
    """Drawn in proportion to gain^coldness; candidates of gain 0 come last, in random order.

    For gains that are not negative, such as BALD's. What rounding put below 0 counts as 0.

    Raises:
        TypeError: if `coldness` is no number.
        ValueError: if it is not finite and above 0.
    """

    coldness: float = 1.0

    def __post_init__(self) -> None:
        checks.real_number(self.coldness, "coldness", above=0.0)

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Draw `batch_size` candidates, fewer if the objective rules out (gain −inf) all that are left.

        Raises:
            ValueError: if the objective returns a gain that is negative or no number.
        """
        state = objective.init(pool)
        scored = score_pool(objective, state, pool, map)
        checks.no_negative_gain(scored.gains, tie(scored), objective)
        logs = np.log(scored.gains, out=np.full(len(pool), -np.inf), where=scored.gains > tie(scored))
        return _drawn(objective, state, pool, batch_size, self.coldness * logs, scored.gains > -np.inf, rngs)


@dataclass(frozen=True)
class SoftmaxSampling:
    """Drawn in proportion to exp(coldness · gain): for gains of any sign.

    Raises:
        TypeError: if `coldness` is no number.
        ValueError: if it is not finite and above 0.
    """

    coldness: float = 1.0

    def __post_init__(self) -> None:
        checks.real_number(self.coldness, "coldness", above=0.0)

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Draw `batch_size` candidates, fewer if the objective rules out (gain −inf) all that are left.

        Raises:
            ValueError: if the objective returns a gain that is no number.
        """
        state = objective.init(pool)
        gains = score_pool(objective, state, pool, map).gains
        return _drawn(objective, state, pool, batch_size, self.coldness * gains, gains > -np.inf, rngs)


@dataclass(frozen=True)
class SoftRankSampling:
    """Drawn in proportion to rank^−coldness, rank 1 the largest gain: what gains are matters only for their order.

    Equal gains share the mean of their ranks.

    Raises:
        TypeError: if `coldness` is no number.
        ValueError: if it is not finite and above 0.
    """

    coldness: float = 1.0

    def __post_init__(self) -> None:
        checks.real_number(self.coldness, "coldness", above=0.0)

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Draw `batch_size` candidates, fewer if the objective rules out (gain −inf) all that are left.

        Raises:
            ValueError: if the objective returns a gain that is no number.
        """
        state = objective.init(pool)
        gains = score_pool(objective, state, pool, map).gains
        logs = -self.coldness * np.log(ranks(gains))
        return _drawn(objective, state, pool, batch_size, logs, gains > -np.inf, rngs)


def ranks(gains: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """The rank of each gain, from 1 for the largest; equal gains share the mean of theirs."""
    _, which, counts = np.unique(-gains, return_inverse=True, return_counts=True)
    mean_rank: np.ndarray = np.cumsum(counts) - (counts - 1) / 2
    shared: np.ndarray = mean_rank[which]
    return shared


def _drawn(
    objective: Objective[Any],
    state: Any,
    pool: Pool,
    batch_size: int,
    log_weights: Float[np.ndarray, " n"],
    allowed: np.ndarray,
    rngs: Sequence[np.random.Generator],
) -> Selection:
    """The candidates drawn, with what each added to those before it. Weights of 0 are drawn last, at random."""
    noise = rngs[0].gumbel(size=len(pool))
    order = np.lexsort((noise, log_weights + noise))[::-1]
    picks, evaluations = list[Pick](), len(pool)
    for at in order[allowed[order]]:
        chosen = pool.take(np.array([at]))
        gain = to_host(objective.gains(state, chosen))
        checks.gains(gain, chosen.index, objective)
        evaluations += 1
        # A pick may have ruled this one out, such as one of the same group.
        if gain[0] > -np.inf:
            picks.append(Pick(int(at), float(gain[0]), standard_error(objective, state, chosen)))
            if len(picks) == batch_size:
                break
            state = objective.update(state, chosen, rngs[len(picks) - 1])
    return Selection.of(picks, evaluations)
