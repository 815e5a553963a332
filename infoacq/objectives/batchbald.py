"""BatchBALD: what a batch of labels tells, jointly, of the parameters."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array
from infoacq.objectives._joint import Joint, empty, extended
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class BatchBALD:
    """I[y_S; draw] = H[y_S] − E_k H[y_S | draw k] of the batch S (nats), at most log k.

    Configurations of the batch are enumerated up to `max_configurations` and sampled beyond.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), eq. 7 and algorithm 1.
    """

    max_configurations: int = 10_000
    submodular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.whole_number(self.max_configurations, "max_configurations")

    def init(self, pool: Pool) -> Joint:
        """The joint entropy of no point."""
        return empty(pool)

    def gains(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; draw | y_S] = H[y_n | y_S] − E_k H[y_n | draw k] of each candidate (nats)."""
        posteriors, masses = joint.configurations.beside
        return _kernels.information(candidates.predictions, posteriors, masses, joint.draw_weights)

    def update(self, joint: Joint, chosen: Candidates, rng: np.random.Generator) -> Joint:
        """The joint entropy with the chosen appended."""
        return extended(joint, chosen.predictions, self.max_configurations, rng)

    def standard_errors(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each gain (nats): 0 while configurations are enumerated."""
        return joint.information_error(candidates.predictions)

    def limit(self, pool: Pool) -> float:
        """Log k: all that labels can tell of k draws (nats)."""
        return math.log(pool.take(np.zeros(1, dtype=np.int64)).predictions.shape[1])
