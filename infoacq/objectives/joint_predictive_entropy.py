"""Joint predictive entropy: how uncertain a batch of labels is together, noise of the labels included."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array
from infoacq.objectives._joint import Joint, empty, extended
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class JointPredictiveEntropy:
    """H[y_S] of the batch S (nats): maximum entropy sampling on predictions under posterior draws.

    Unlike BatchBALD it also rewards noise, the part of H[y_S] that no parameters explain. Configurations of the batch
    are enumerated up to `max_configurations` and sampled beyond.

    Raises:
        TypeError: if `max_configurations` is no whole number.
        ValueError: if it is below 2.

    Source: Shewry and Wynn 1987, Maximum entropy sampling; the joint as in Kirsch et al. 2019
    (arXiv 1906.08158), eq. 12.
    """

    max_configurations: int = 10_000
    submodular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.whole_number(self.max_configurations, "max_configurations", least=2)

    def init(self, pool: Pool) -> Joint:
        """The joint entropy of no point."""
        return empty(pool)

    def gains(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """H[y_n | y_S] of each candidate (nats)."""
        return _kernels.conditional_entropies(candidates.predictions, *joint.configurations.beside)

    def update(self, joint: Joint, chosen: Candidates, rng: np.random.Generator) -> Joint:
        """The joint entropy with the chosen appended."""
        return extended(joint, chosen.predictions, self.max_configurations, rng)

    def standard_errors(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each gain (nats): 0 while configurations are enumerated."""
        return joint.entropy_error(candidates.predictions)
