"""Every image four times over: which objective does not label the same thing again?"""

import numpy as np

from benchmarks.objectives.digits import Data, Split, digits, split
from benchmarks.objectives.learning import Chooser, Row, by, compare, final_accuracy
from infoacq import BALD, BatchBALD, PredictiveEntropy, Random
from infoacq.maximisers import PowerSampling

ROUNDS = 8


def run(seeds: int) -> list[Row]:
    """Accuracy after 8 rounds of 5 labels, from 20 labels on."""
    choosers: dict[str, Chooser] = {
        "Random": by(Random()),
        "PredictiveEntropy": by(PredictiveEntropy()),
        "BALD": by(BALD()),
        "BALD, PowerSampling(8)": by(BALD(), PowerSampling(8.0)),
        "BatchBALD": by(BatchBALD(max_configurations=1_000)),
    }
    return compare([repeated(seed) for seed in range(seeds)], choosers, ROUNDS, {"accuracy": final_accuracy})


def repeated(seed: int) -> Split:
    """120 images of the pool, each four times with a little noise."""
    apart, rng = split(digits(), seed), np.random.default_rng(seed)
    few = apart.pool[np.arange(120)]
    images = np.repeat(few.images, 4, axis=0)
    return Split(
        apart.labelled, Data(images + 0.03 * rng.standard_normal(images.shape), np.repeat(few.labels, 4)), apart.test
    )
