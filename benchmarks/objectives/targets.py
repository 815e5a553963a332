"""Only some digits matter in the end: does aiming at them help?"""

from functools import partial

import numpy as np

from benchmarks.objectives.digits import Images, Split, digits, split
from benchmarks.objectives.learning import Chooser, Learnt, Round, Row, by, compare, final_accuracy
from infoacq import BatchBALD, Random, select_batch
from infoacq.objectives import EPIG

MATTER = (3, 5, 8, 9)
ROUNDS = 6


def run(seeds: int) -> list[Row]:
    """Accuracy on 3, 5, 8 and 9 after 6 rounds of 5 labels, from 20 on, and the share of labels spent on them."""
    splits = [mattering(seed) for seed in range(seeds)]
    targets = [apart.test.images[:60] for apart in splits]
    choosers: dict[str, Chooser] = {
        "Random": by(Random()),
        "BatchBALD": by(BatchBALD(max_configurations=1_000)),
        "EPIG": partial(aimed, targets),
    }
    return compare(splits, choosers, ROUNDS, {"accuracy": final_accuracy, "share of labels": share})


def mattering(seed: int) -> Split:
    """All digits in a pool of 500, and a test set of those that matter."""
    apart = split(digits(), seed)
    test = apart.test[np.flatnonzero(np.isin(apart.test.labels, MATTER))]
    return Split(apart.labelled, apart.pool[np.arange(500)], test)


def aimed(targets: list[Images], now: Round) -> list[int]:
    """EPIG's choice for 60 unlabelled images of digits that matter."""
    objective = EPIG(now.probs(targets[now.split]), max_configurations=1_500)
    return select_batch(now.probs(), objective, 5, seed=now.seed).indices


def share(run: Learnt) -> float:
    """The share of the new labels that are of digits that matter."""
    return float(np.isin(run.labelled.labels[20:], MATTER).mean())
