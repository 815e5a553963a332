"""Curves of test accuracy over acquired labels, and their medians and quartiles over trials."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Trajectory:
    """The test accuracy of one trial after so many labels were acquired beyond the initial ones.

    Attributes:
        hours: from the start until the model was trained that has this accuracy; empty where that is not known.
    """

    acquired: list[int]
    accuracy: list[float]
    hours: Sequence[float] = ()

    def labels_to_reach(self, target: float) -> float:
        """Labels acquired when the accuracy is first at least `target`; infinite if it never was."""
        reached = (float(a) for a, accuracy in zip(self.acquired, self.accuracy, strict=True) if accuracy >= target)
        return next(reached, math.inf)


@dataclass(frozen=True)
class Quartiles:
    """The lower quartile, median and upper quartile of some trials."""

    q25: float
    median: float
    q75: float
    trials: int


@dataclass(frozen=True)
class Curve:
    """Quartiles of the accuracy at each number of acquired labels that some trial has seen.

    Attributes:
        quartiles: NaN where they are not known.
        trials: empty where only the curve is known.
    """

    acquired: list[int]
    quartiles: list[Quartiles]
    trials: Sequence[Trajectory] = ()

    def labels_to_reach(self, target: float) -> Quartiles | None:
        """Labels acquired until each trial, all of them ended, is first at least `target`; None if they are unknown."""
        return quartiles([trial.labels_to_reach(target) for trial in self.trials]) if self.trials else None


def hours(train_s: Sequence[float], acquire_s: Sequence[float]) -> list[float]:
    """Hours until each step's model was trained, from the seconds of the steps; none where a step's are missing."""
    before = accumulate((t + a for t, a in zip(train_s, acquire_s, strict=False)), initial=0.0)
    return [(b + t) / 3600 for b, t in zip(before, train_s, strict=False)]


def quartiles(values: Sequence[float]) -> Quartiles:
    """Quartiles by rank (the averaged inverse of the distribution function), so that infinite values may occur."""
    ranked = sorted(values)
    return Quartiles(_quantile(ranked, 1), _quantile(ranked, 2), _quantile(ranked, 3), len(ranked))


def curve(trajectories: Sequence[Trajectory]) -> Curve:
    """The quartiles over trials; a trial that has not got that far does not count there."""
    accuracies: dict[int, list[float]] = {}
    for trajectory in trajectories:
        for acquired, accuracy in zip(trajectory.acquired, trajectory.accuracy, strict=True):
            accuracies.setdefault(acquired, []).append(accuracy)
    labels = sorted(accuracies)
    return Curve(labels, [quartiles(accuracies[n]) for n in labels], trajectories)


def _quantile(ranked: Sequence[float], quarter: int) -> float:
    whole, rest = divmod(quarter * len(ranked), 4)
    return ranked[whole] if rest else (ranked[whole - 1] + ranked[whole]) / 2
