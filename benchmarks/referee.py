"""An independent estimate of what a batch of labels tells of the draws, for comparing batches of any origin."""

import math

import numpy as np
from jaxtyping import Float, Int


def information(
    probs: Float[np.ndarray, "n k c"], batch: Int[np.ndarray, " b"], samples: int = 1_000_000, seed: int = 0
) -> tuple[float, float]:
    """I[y_S; draw] of the batch and its standard error (nats), by plain sampling of draws and labels.

    A draw and labels under it are sampled together, and log p(labels | draw) − log Σ_k p(labels | k) / K averaged.
    Nothing of it is the library's: no posterior, no chain rule, no chosen configurations.
    """
    points = probs[batch].astype(np.float64)
    points /= points.sum(axis=-1, keepdims=True)
    rng, draws, values = np.random.default_rng(seed), points.shape[1], []
    with np.errstate(divide="ignore"):
        logs = np.log(points)
    for _ in range(0, samples, 20_000):
        true = rng.integers(draws, size=20_000)
        joint = np.zeros((20_000, draws))
        for point, log in zip(points, logs, strict=True):
            uniform = rng.random((20_000, 1))
            labels = np.minimum((np.cumsum(point[true], axis=1) < uniform).sum(axis=1), point.shape[1] - 1)
            joint += log.T[labels]
        largest = joint.max(axis=1, keepdims=True)
        marginal = largest[:, 0] + np.log(np.exp(joint - largest).mean(axis=1))
        values.append(joint[np.arange(20_000), true] - marginal)
    each = np.concatenate(values)
    return float(each.mean()), float(each.std() / math.sqrt(each.size))
