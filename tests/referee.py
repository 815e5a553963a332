"""What a batch is worth by plain sampling: nothing of the library, nothing of the oracles, only draws and dice."""

import math

import numpy as np


def information(predictions: np.ndarray, batch: list[int], samples: int, seed: int) -> tuple[float, float]:
    """I[y_S; draw] and its standard error (nats).

    A draw is thrown, then a label of each point under that draw, independently for each sample; the mean of
    log p(labels | draw) − log p(labels) is the information.
    """
    rng, draws = np.random.default_rng(seed), predictions.shape[1]
    points = predictions[batch].astype(np.float64)
    logs = np.log(np.maximum(points, 1e-300))
    ladders = points.cumsum(axis=-1)
    total, squares, done = 0.0, 0.0, 0
    while done < samples:
        some = min(20_000, samples - done)
        thrown = rng.integers(draws, size=some)
        log_likelihoods = np.zeros((some, draws))
        for ladder, log in zip(ladders, logs, strict=True):
            height = rng.random(some) * ladder[thrown, -1]
            labels = (ladder[thrown] <= height[:, None]).sum(axis=1)
            log_likelihoods += log[:, labels].T
        top = log_likelihoods.max(axis=1)
        marginals = top + np.log(np.exp(log_likelihoods - top[:, None]).sum(axis=1) / draws)
        terms = log_likelihoods[np.arange(some), thrown] - marginals
        total, squares, done = total + terms.sum(), squares + (terms**2).sum(), done + some
    mean = total / samples
    return mean, math.sqrt((squares / samples - mean**2) / samples)
