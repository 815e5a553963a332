"""The loop of active learning on digits: fit, draw, choose, label."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

import numpy as np
from jaxtyping import Float
from tqdm import tqdm

from benchmarks.objectives.digits import Data, Images, Posterior, Split, probs
from infoacq import Maximiser, Objective, select_batch

Row = dict[str, Any]


@dataclass(frozen=True)
class Round:
    """What a chooser may look at: the pool, draws of the model that predict any images, and which split it is."""

    draws: Float[np.ndarray, "k d c"]
    pool: Data
    split: int
    seed: int

    def probs(self, images: Images | None = None) -> Float[np.ndarray, "n k c"]:
        """Predictions of these images, the pool's by default."""
        return probs(self.draws, self.pool.images if images is None else images).astype(np.float32)


Chooser = Callable[[Round], Sequence[int]]


def by(objective: Objective[Any], maximiser: Maximiser | None = None) -> Chooser:
    """Five of the pool by this objective."""
    return lambda now: select_batch(now.probs(), objective, 5, maximiser=maximiser, seed=now.seed).indices


@dataclass(frozen=True)
class Learnt:
    """What one run gave: the accuracy before the first round and after each, and all that was labelled on the way."""

    accuracies: list[float]
    labelled: Data


def learn(split: Split, number: int, choose: Chooser, rounds: int, draws: int = 400) -> Learnt:
    """Label what `choose` asks for, `rounds` times, from the split of this number on."""
    labelled, pool, posterior = split.labelled, split.pool, Posterior.fit(split.labelled)
    accuracies = [posterior.accuracy(split.test)]
    for step in range(rounds):
        seed = 1000 * number + step
        chosen = choose(Round(posterior.draws(draws, seed), pool, number, seed))
        labelled = labelled.with_more(pool[np.array(chosen)])
        pool = pool[np.setdiff1d(np.arange(len(pool)), chosen)]
        posterior = Posterior.fit(labelled)
        accuracies.append(posterior.accuracy(split.test))
    return Learnt(accuracies, labelled)


def compare(
    splits: Sequence[Split], choosers: dict[str, Chooser], rounds: int, measures: dict[str, Callable[[Learnt], float]]
) -> list[Row]:
    """One row a chooser: each measure's mean over the splits and its standard error, and the curve of accuracies."""
    rows = []
    for name, choose in choosers.items():
        runs = [learn(split, i, choose, rounds) for i, split in enumerate(tqdm(splits, desc=name, leave=False))]
        measured = summary({label: [of(run) for run in runs] for label, of in measures.items()})
        rows.append({"chooser": name, **measured, **curve([run.accuracies for run in runs])})
    return rows


def summary(values: dict[str, list[float]]) -> Row:
    """The mean of each list, and its standard error."""
    row: Row = {}
    for label, numbers in values.items():
        row[label] = round(mean(numbers), 4)
        row[f"{label}, s.e."] = round(stdev(numbers) / len(numbers) ** 0.5, 4)
    return row


def curve(runs: Sequence[Sequence[float]]) -> Row:
    """The mean over the runs before the first round and after each, and its standard error: what figures show."""
    each = np.array(runs)
    errors = each.std(axis=0, ddof=1) / len(each) ** 0.5
    return {"curve": each.mean(axis=0).round(4).tolist(), "curve, s.e.": errors.round(4).tolist()}


def final_accuracy(run: Learnt) -> float:
    """The accuracy after the last round."""
    return run.accuracies[-1]
