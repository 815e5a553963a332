"""How many draws and configurations? Batches chosen with few of them, valued under 2,000 other draws."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.objectives.digits import Posterior, digits, probs, split
from infoacq import BatchBALD, SaturationWarning, from_probs, select_batch
from infoacq.maximisers import MustHave
from infoacq.pool import Pool

BATCH, SEEDS = 5, 4
REFEREE = BatchBALD(max_configurations=4_000)


def predicted(draws: int, seed: int, chosen: Sequence[int] = range(400)) -> Pool:
    """Predictions of the pool's first 400 digits, or of those chosen, from 60 labels."""
    apart = split(digits(), 0, each=6)
    images = apart.pool.images[np.array(chosen)]
    return from_probs(probs(Posterior.fit(apart.labelled).draws(draws, seed), images).astype(np.float32))


def worth(batch: list[int]) -> float:
    """What a batch tells of 2,000 draws that it was not chosen by (nats)."""
    everything = MustHave(range(len(batch)))
    return select_batch(predicted(2_000, 99, batch), REFEREE, len(batch), maximiser=everything, seed=0).scores[-1]


def by_draws() -> list[dict[str, Any]]:
    """Score that `select_batch` gave to five points, its limit log k, and what they are worth (nats), by draws k."""
    rows = []
    for draws in (5, 10, 30, 100, 300):
        runs = [select_batch(predicted(draws, seed), BatchBALD(2_000), BATCH, seed=seed) for seed in range(SEEDS)]
        rows.append(
            {
                "draws": draws,
                "log k": round(float(np.log(draws)), 3),
                "score": round(float(np.mean([run.scores[-1] for run in runs])), 3),
                "worth": round(float(np.mean([worth(run.indices) for run in runs])), 3),
            }
        )
    return rows


def by_configurations() -> list[dict[str, Any]]:
    """Standard error of the last gain, and the worth of the batch (nats), by configurations; 300 draws."""
    rows = []
    for configurations in (30, 100, 1_000, 10_000):
        objective = BatchBALD(max_configurations=configurations)
        runs = [select_batch(predicted(300, seed), objective, BATCH, seed=seed) for seed in range(SEEDS)]
        rows.append(
            {
                "configurations": configurations,
                "s.e. of the last gain": round(float(np.mean([run.standard_errors[-1] for run in runs])), 4),
                "worth": round(float(np.mean([worth(run.indices) for run in runs])), 3),
            }
        )
    return rows


def stuck() -> list[dict[str, Any]]:
    """Score after each of eight picks (nats), for 10 draws and for 1,000."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SaturationWarning)
        runs = {k: select_batch(predicted(k, 0), BatchBALD(2_000), 8, seed=0) for k in (10, 1_000)}
    return [
        {"draws": k, "log k": round(float(np.log(k)), 3), "scores": [round(score, 3) for score in run.scores]}
        for k, run in runs.items()
    ]
