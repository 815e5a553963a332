"""The joint entropy that several objectives keep as their state: enumerated while small and sampled beyond."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from infoacq._arrays import Array, to_host
from infoacq.joint import ExactJointEntropy, SampledJointEntropy
from infoacq.pool import Pool

# How many configurations are tried first, and at which number their growth ends whatever the error.
FEWEST, MOST = 512, 65_536

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
        joint = replace(joint, num_configurations=max_configurations).append(point, rng)
    return joint


def extended_within(
    joint: Joint, probs: Float[Array, "n k c"], standard_error: float, rng: np.random.Generator
) -> Joint:
    """`joint` with more points, on as few configurations as give this standard error of an information (nats).

    It is measured on the point itself: what another label of it would tell.
    """
    for i in range(probs.shape[0]):
        point = probs[i : i + 1, ...]
        count = FEWEST if isinstance(joint, ExactJointEntropy) else joint.num_configurations
        grown = extended(joint, point, count, rng)
        while count < MOST and float(to_host(grown.information_error(point))[0]) > standard_error:
            count *= 2
            grown = extended(joint, point, count, rng)
        joint = grown
    return joint
