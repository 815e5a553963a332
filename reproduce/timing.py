"""The figure of time: what an accuracy costs, training, scoring and choosing together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.curves import Quartiles, Trajectory, quartiles
from reproduce.figures import draw_published, draw_quartiles
from reproduce.methods import BATCHBALD
from reproduce.settings import Experiment
from reproduce.sizes import Sized, by_method, panels
from reproduce.tables import Row

TARGET = 0.95
REFERENCE_SIZE = 10


@dataclass(frozen=True)
class TimedCurve:
    """Quartiles of the accuracy over the median hours that it took; trials count as far as all have got."""

    hours: list[float]
    accuracy: list[Quartiles]

    def hours_to(self, target: float) -> float:
        """Hours when the median accuracy is first at least `target`; infinite if it never was."""
        reached = (h for h, a in zip(self.hours, self.accuracy, strict=True) if a.median >= target)
        return next(reached, math.inf)


def timed(trials: Sequence[Trajectory]) -> TimedCurve:
    """The curve of some trials; empty where nobody knows their hours."""
    length = min((len(trial.hours) for trial in trials), default=0)
    return TimedCurve(
        [median(trial.hours[i] for trial in trials) for i in range(length)],
        [quartiles([trial.accuracy[i] for trial in trials]) for i in range(length)],
    )


def time_figure(members: Sequence[tuple[Experiment, Sequence[Row]]], note: str) -> Figure | None:
    """Accuracy over time, in units of what BatchBALD with acquisition size 10 takes to reach 95 %, if it did.

    The published curves, dashed, are in such a unit of their own, and drawn where ours have theirs. None as long as
    neither BALD nor BatchBALD has been run.
    """
    shown = by_method(members)
    if not shown:
        return None
    reference = [one.row for one in shown.get(BATCHBALD.label, []) if one.size == REFERENCE_SIZE]
    ours = min((timed(row.trajectories).hours_to(TARGET) for row in reference), default=math.inf)
    theirs = min((timed(row.published.trials).hours_to(TARGET) for row in reference if row.published), default=math.inf)
    figure, axes = panels(list(shown), f"MNIST, time to train and to acquire{note}; star: {100 * TARGET:.0f} % reached")
    for panel, sized in zip(axes, shown.values(), strict=True):
        for one in sized:
            _draw(panel, one, timed(one.row.trajectories), ours if math.isfinite(ours) else 1.0)
            if one.row.published and math.isfinite(ours) and math.isfinite(theirs):
                published = timed(one.row.published.trials)
                label = f"size {one.size}, published, in its own unit"
                draw_published(panel, [h / theirs for h in published.hours], published.accuracy, one.colour, label)
        panel.set_xscale("log")  # with single points a run takes ten times as long as with ten
        panel.set_xlabel("time / BatchBALD's, size 10, to 95 %" if math.isfinite(ours) else "time (hours)")
        panel.legend(frameon=False, loc="upper left", fontsize="small")
    return figure


def _draw(panel: Axes, one: Sized, curve: TimedCurve, unit: float) -> None:
    draw_quartiles(panel, [h / unit for h in curve.hours], curve.accuracy, one.colour, one.label)
    if math.isfinite(curve.hours_to(TARGET)):
        panel.plot(curve.hours_to(TARGET) / unit, 100 * TARGET, "*", color=one.colour, markersize=12)
