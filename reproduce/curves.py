"""Curves of test accuracy over acquired labels, and their medians and quartiles over trials."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trajectory:
    """The test accuracy of one trial after so many labels were acquired beyond the initial ones."""

    acquired: list[int]
    accuracy: list[float]

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
    """Quartiles of the accuracy at each number of acquired labels that some trial has seen."""

    acquired: list[int]
    quartiles: list[Quartiles]

    def first_at(self, target: float) -> float:
        """Labels acquired when the median is first at least `target`; infinite if it never is."""
        return Trajectory(self.acquired, [q.median for q in self.quartiles]).labels_to_reach(target)


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
    return Curve(labels, [quartiles(accuracies[n]) for n in labels])


def _quantile(ranked: Sequence[float], quarter: int) -> float:
    whole, rest = divmod(quarter * len(ranked), 4)
    return ranked[whole] if rest else (ranked[whole - 1] + ranked[whole]) / 2
