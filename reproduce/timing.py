"""The figure of time: what an accuracy costs, training, scoring and choosing together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from matplotlib.figure import Figure

from reproduce.methods import BALD_KEPT, BATCHBALD
from reproduce.results import Log
from reproduce.settings import Experiment
from reproduce.tables import Row
from reproduce.words import counted

TARGET = 0.95
REFERENCE_SIZE = 10
MARKERS = {1: "o", 5: "s", 10: "", 40: "D"}


@dataclass(frozen=True)
class TimedCurve:
    """Median accuracy over the median hours that it took; trials count as far as all have got."""

    hours: list[float]
    accuracy: list[float]

    def hours_to(self, target: float) -> float:
        """Hours when the accuracy is first at least `target`; infinite if it never was."""
        reached = (h for h, a in zip(self.hours, self.accuracy, strict=True) if a >= target)
        return next(reached, math.inf)


def timed(logs: Sequence[Log]) -> TimedCurve:
    """The curve of some trials: the hours of a step are those until its model was trained."""
    length = min(len(log.steps) for log in logs)
    hours = []
    for log in logs:
        before = accumulate((s.train_s + s.score_s + s.choose_s for s in log.steps), initial=0.0)
        hours.append([(b + step.train_s) / 3600 for b, step in zip(before, log.steps, strict=False)])
    return TimedCurve(
        [median(trial[i] for trial in hours) for i in range(length)],
        [median(log.steps[i].accuracy for log in logs) for i in range(length)],
    )


def time_figure(members: Sequence[tuple[Experiment, Sequence[Row]]], note: str) -> Figure | None:
    """Accuracy over time, in units of what BatchBALD with acquisition size 10 takes to reach 95 %, if it did.

    None as long as neither BALD nor BatchBALD has been run.
    """
    curves = [
        (row, experiment.settings.acquisition_size, timed(row.logs))
        for experiment, found in members
        for row in found
        if row.method.name in (BALD_KEPT.name, BATCHBALD.name)
    ]
    if not curves:
        return None
    unit = next((c.hours_to(TARGET) for row, size, c in curves if _is_reference(row, size)), math.inf)
    scale = unit if math.isfinite(unit) else 1.0
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for row, size, curve in curves:
        x, y = [h / scale for h in curve.hours], [100 * a for a in curve.accuracy]
        label = f"{row.method.label}, size {size} ({counted(len(row.logs), 'trial')})"
        axes.plot(x, y, color=row.method.colour, marker=MARKERS.get(size, "x"), markevery=5, markersize=4, label=label)
        if math.isfinite(curve.hours_to(TARGET)):
            axes.plot(curve.hours_to(TARGET) / scale, 100 * TARGET, "*", color=row.method.colour, markersize=12)
    axes.set_title(f"Time to train and to acquire{note}; stars: {TARGET:.0%} reached", loc="left")
    axes.set_xlabel("total time / that of BatchBALD, size 10, to 95 %" if scale == unit else "total time (hours)")
    axes.set_ylabel("test accuracy (%)")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _is_reference(row: Row, size: int) -> bool:
    return row.method.name == BATCHBALD.name and size == REFERENCE_SIZE
