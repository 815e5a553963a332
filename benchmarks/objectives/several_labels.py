"""Two digits side by side, and both are labelled: count their labels together or one by one?"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Int

from benchmarks.objectives.digits import Posterior, digits, probs, split
from benchmarks.objectives.learning import Row, curve, summary
from infoacq import BALD, Objective, Random, select_batch
from infoacq.objectives import MultiOutputBatchBALD, Scores
from infoacq.outputs import from_outputs
from infoacq.pool import Candidates

ROUNDS = 6
PAIRS = 240


def run(seeds: int) -> list[Row]:
    """Accuracy on single digits after 6 rounds of 3 pairs, from 20 labels on; a third show one digit twice."""
    objectives: dict[str, Objective[Any]] = {
        "Random": Random(),
        "sum of both BALD scores": Scores(sum_of_bald, unit="nats"),
        "MultiOutputBatchBALD": MultiOutputBatchBALD(max_configurations=1_000),
    }
    rows = []
    for name, objective in objectives.items():
        runs = [accuracies(objective, seed) for seed in range(seeds)]
        rows.append({"chooser": name, **summary({"accuracy": [run[-1] for run in runs]}), **curve(runs)})
    return rows


def sum_of_bald(candidates: Candidates) -> np.ndarray:
    """The BALD scores of both labels, added."""
    both = (replace(candidates, predictions=candidates.predictions[:, :, i], kept_entropies=None) for i in range(2))
    total: np.ndarray = sum(np.asarray(BALD().gains(None, single)) for single in both)  # type: ignore[assignment]
    return total


def accuracies(objective: Objective[Any], seed: int) -> list[float]:
    """The accuracy before the first round and after each."""
    apart = split(digits(), seed)
    pairs, labelled, posterior = pairs_of(len(apart.pool), seed), apart.labelled, Posterior.fit(apart.labelled)
    found = [posterior.accuracy(apart.test)]
    for step in range(ROUNDS):
        predict = partial(probs, posterior.draws(400, 1000 * seed + step))
        sides = [predict(apart.pool.images[pairs[:, side]]).astype(np.float32) for side in range(2)]
        chosen = select_batch(from_outputs(sides), objective, 3, seed=1000 * seed + step).indices
        labelled = labelled.with_more(apart.pool[np.unique(pairs[chosen])])
        pairs = np.delete(pairs, chosen, axis=0)
        posterior = Posterior.fit(labelled)
        found.append(posterior.accuracy(apart.test))
    return found


def pairs_of(size: int, seed: int) -> Int[np.ndarray, "pairs 2"]:
    """Pairs of pool positions; in a third of them both are the same image."""
    left, right = np.random.default_rng(seed).permutation(size)[: 2 * PAIRS].reshape(2, PAIRS)
    return np.stack([left, np.where(np.arange(PAIRS) < PAIRS // 3, left, right)], axis=1)
