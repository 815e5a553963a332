"""The figure of the ablation: labels needed as the pool gets more redundant."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.data import MNIST
from reproduce.methods import BALD_KEPT, BATCHBALD, RANDOM, Method
from reproduce.settings import Experiment
from reproduce.tables import Row

TARGET = 0.90
_SIZES = {RANDOM.name: 13, BALD_KEPT.name: 9, BATCHBALD.name: 5}  # of triangles, which may lie at one place


def ablation_figure(members: Sequence[tuple[Experiment, Sequence[Row]]], note: str) -> Figure | None:
    """Labels acquired until test accuracy first reaches 90 %, over the copies of each image in the pool.

    None as long as only one number of copies has been run: there is nothing to compare it with.
    """
    members = [(experiment, found) for experiment, found in members if found]
    if len(members) < 2:
        return None
    figure = Figure(figsize=(6.5, 5), layout="constrained")
    axes = figure.subplots()
    for method in (RANDOM, BALD_KEPT, BATCHBALD):
        _draw(axes, method, members)
    axes.plot([], [], color="0.4", linestyle="--", marker="x", label="published (median trial, where it reaches it)")
    axes.plot(
        [], [], color="0.4", linestyle="", marker="^", markerfacecolor="white", label="not reached when it was stopped"
    )
    axes.set_title(f"Repeated MNIST{note}", loc="left")
    axes.set_xlabel("copies of each image in the pool")
    axes.set_ylabel(f"labels acquired until {TARGET:.0%} test accuracy")
    axes.set_xticks(sorted({_copies(experiment) for experiment, _ in members}))
    axes.set_ylim(bottom=0)  # what is published may lie above all that has been run
    figure.legend(frameon=False, loc="outside lower center", ncols=3, fontsize="small")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _draw(axes: Axes, method: Method, members: Sequence[tuple[Experiment, Sequence[Row]]]) -> None:
    points = [(_copies(e), row) for e, found in members for row in found if row.method.name == method.name]
    if not points:
        return
    copies = [c for c, _ in points]
    needed = [row.labels_to_reach(TARGET) for _, row in points]
    ends = [max(trial.acquired[-1] for trial in row.trajectories) for _, row in points]
    low, middle, high = (
        [min(getattr(q, name), end) for q, end in zip(needed, ends, strict=True)] for name in ("q25", "median", "q75")
    )
    spread = np.subtract([middle, high], [low, middle])
    reached = [math.isfinite(q.median) for q in needed]
    joined = [m if known else math.nan for m, known in zip(middle, reached, strict=True)]  # no line to what is a bound
    axes.errorbar(copies, joined, spread, color=method.colour, capsize=3, label=method.label)
    for marker, fill, size, wanted in (("o", method.colour, 6, True), ("^", "none", _SIZES[method.name], False)):
        at = [(c, m) for c, m, known in zip(copies, middle, reached, strict=True) if known is wanted]
        of = [c for c, _ in at], [m for _, m in at]
        axes.plot(*of, marker, color=method.colour, markerfacecolor=fill, markersize=size)
    published = [(c, row.published.labels_to_reach(TARGET)) for c, row in points if row.published]
    known = [(c, q.median) for c, q in published if q and math.isfinite(q.median)]
    axes.plot([c for c, _ in known], [labels for _, labels in known], "x--", color=method.colour, linewidth=1)


def _copies(experiment: Experiment) -> int:
    data = experiment.settings.data
    return data.copies if isinstance(data, MNIST) else 1
