"""Half of the pool is a mix of two digits that a coin labels: which objective pays for the coin?"""

import numpy as np

from benchmarks.objectives.digits import Data, Split, digits, split
from benchmarks.objectives.learning import Chooser, Row, by, compare, final_accuracy
from infoacq import BatchBALD, PredictiveEntropy, Random
from infoacq.objectives import JointPredictiveEntropy

ROUNDS = 8


def run(seeds: int) -> list[Row]:
    """Accuracy after 8 rounds of 5 labels, from 20 labels on."""
    choosers: dict[str, Chooser] = {
        "Random": by(Random()),
        "PredictiveEntropy": by(PredictiveEntropy()),
        "JointPredictiveEntropy": by(JointPredictiveEntropy(max_configurations=1_000)),
        "BatchBALD": by(BatchBALD(max_configurations=1_000)),
    }
    return compare([mixed(seed) for seed in range(seeds)], choosers, ROUNDS, {"accuracy": final_accuracy})


def mixed(seed: int) -> Split:
    """250 images, and 250 means of two of them with the label of either at random."""
    apart, rng = split(digits(), seed), np.random.default_rng(seed)
    pure = apart.pool[np.arange(250)]
    one, other = rng.integers(0, 250, (2, 250))
    labels = np.where(rng.random(250) < 0.5, pure.labels[one], pure.labels[other])
    return Split(apart.labelled, pure.with_more(Data((pure.images[one] + pure.images[other]) / 2, labels)), apart.test)
