"""BatchBALD: what a batch of labels tells, jointly, of the parameters."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array, namespace
from infoacq.joint import SampledJointEntropy
from infoacq.objectives._joint import Joint, empty, extended, extended_within
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class BatchBALD:
    """I[y_S; draw] = H[y_S] − E_k H[y_S | draw k] of the batch S (nats), at most log k.

    Configurations of the batch are enumerated up to `max_configurations` and sampled beyond. By default there are as
    many as keep the standard error of a gain at about `standard_error` (nats); the batch's score then has a few times
    that error.

    Raises:
        TypeError: if `max_configurations` is no whole number, or `standard_error` no number.
        ValueError: if `max_configurations` is below 2, or `standard_error` not above 0.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), eq. 7 and algorithm 1.
    """

    max_configurations: int | None = None
    standard_error: float = 0.005
    submodular: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.real_number(self.standard_error, "standard_error", above=0.0)
        if self.max_configurations is not None:
            checks.whole_number(self.max_configurations, "max_configurations", least=2)

    def init(self, pool: Pool) -> Joint:
        """The joint entropy of no point."""
        return empty(pool)

    def gains(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; draw | y_S] = H[y_n | y_S] − E_k H[y_n | draw k] of each candidate (nats)."""
        posteriors, masses = joint.configurations.beside
        return _kernels.information(
            candidates.predictions, candidates.draw_entropies, posteriors, masses, joint.draw_weights
        )

    def update(self, joint: Joint, chosen: Candidates, rng: np.random.Generator) -> Joint:
        """The joint entropy with the chosen appended."""
        if self.max_configurations is None:
            return extended_within(joint, chosen.predictions, self.standard_error, rng)
        return extended(joint, chosen.predictions, self.max_configurations, rng)

    def standard_errors(self, joint: Joint, candidates: Candidates) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each gain (nats): 0 while configurations are enumerated."""
        return joint.information_error(candidates.predictions)

    def limit(self, pool: Pool) -> float:
        """The logarithm of k: all that labels can tell of k draws (nats)."""
        return math.log(pool.take(np.zeros(1, dtype=np.int64)).predictions.shape[1])

    def remaining(self, joint: Joint) -> float:
        """H[draw | y_S], all that more labels can tell of the draws (nats)."""
        return joint.configurations.remaining

    def sketch(self, joint: Joint, size: int, rng: np.random.Generator) -> Joint:
        """The joint entropy on a sample of `size` of its configurations; itself if it has not twice as many."""
        now = joint.configurations
        return joint if len(now) < 2 * size else SampledJointEntropy(now.thinned(size, rng), joint.entropy, size)

    def differences(
        self, joint: Joint, candidates: Candidates, reference: Candidates
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Each candidate's gain less the reference's, and its standard error in a sketch (nats)."""
        now = joint.configurations
        posteriors, masses = now.beside
        of_reference = _kernels.information_by_configuration(
            reference.predictions, reference.draw_entropies, posteriors
        )[0, :]
        difference, variance = _kernels.information_differences(
            candidates.predictions, candidates.draw_entropies, posteriors, masses, of_reference, now.step_weights
        )
        return difference, namespace(variance).sqrt(variance)
