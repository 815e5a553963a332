"""The joint entropy that several objectives keep as their state: enumerated while small and sampled beyond."""

import numpy as np
from jaxtyping import Float

from infoacq._arrays import Array
from infoacq.joint import ExactJointEntropy, SampledJointEntropy
from infoacq.pool import Pool

Joint = ExactJointEntropy | SampledJointEntropy


def empty(pool: Pool) -> ExactJointEntropy:
    """The joint entropy of no point of `pool`."""
    first = pool.take(np.zeros(1, dtype=np.int64)).predictions
    return ExactJointEntropy.empty(draws=first.shape[1], like=first)


def extended(joint: Joint, probs: Float[Array, "n k c"], max_configurations: int, rng: np.random.Generator) -> Joint:
    """`joint` with more points, on at most `max_configurations` configurations, sampled if there are more."""
    for i in range(probs.shape[0]):
        point = probs[i, ...]
        if isinstance(joint, ExactJointEntropy):
            if len(joint.configurations) * point.shape[1] <= max_configurations:
                joint = joint.append(point)
                continue
            joint = joint.sampled(max_configurations, rng)
        joint = joint.append(point, rng)
    return joint
