"""The figures of acquired classes: how evenly a method spreads its labels, and what the classes look like."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.curves import quartiles
from reproduce.data import DataSet
from reproduce.pictures import as_picture
from reproduce.results import Log
from reproduce.settings import Experiment
from reproduce.tables import Row
from reproduce.words import counted


def class_entropy(labels: Iterable[int]) -> float:
    """The entropy (nats) of the classes' shares among some labels; 0 of none."""
    counts = np.array(list(Counter(labels).values()), dtype=float)
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum()) if len(counts) else 0.0


def entropies(log: Log) -> list[float]:
    """The entropy (nats) of all classes acquired so far, after each acquisition."""
    acquired: list[int] = []
    found = []
    for step in log.steps:
        acquired += step.targets
        found += [class_entropy(acquired)] if step.targets else []
    return found


def sorted_counts(log: Log, classes: int, until: int) -> list[int]:
    """How often each class is among the first `until` acquired labels, the most frequent first."""
    acquired = [target for step in log.steps for target in step.targets][:until]
    counts = sorted(Counter(acquired).values(), reverse=True)
    return counts + [0] * (classes - len(counts))


def entropy_figure(experiment: Experiment, found: Sequence[Row], note: str, classes: int) -> Figure:
    """Medians over trials of the entropy of the classes acquired so far, with bands from quartile to quartile."""
    figure, axes = _axes(f"{experiment.title}{note}")
    size = experiment.settings.acquisition_size
    for row in found:
        trials = [entropies(log) for log in row.logs]
        at = [quartiles([t[i] for t in trials if len(t) > i]) for i in range(max(map(len, trials)))]
        labels = [size * (i + 1) for i in range(len(at))]
        axes.fill_between(labels, [q.q25 for q in at], [q.q75 for q in at], color=row.method.colour, alpha=0.15, lw=0)
        axes.plot(labels, [q.median for q in at], color=row.method.colour, label=_name(row))
    axes.axhline(math.log(classes), color="0.6", linestyle=":", label=f"all {classes} classes alike")
    axes.set_xlabel("labels acquired")
    axes.set_ylabel("entropy of their classes (nats)")
    axes.legend(frameon=False, loc="lower right")
    return figure


def histogram_figure(experiment: Experiment, found: Sequence[Row], note: str, classes: int) -> Figure:
    """How often each class was acquired, the most frequent first, each trial sorted by itself, then their mean.

    All trials count up to where the shortest has got.
    """
    figure, axes = _axes(f"{experiment.title}{note}")
    until = min(log.trajectory.acquired[-1] for row in found for log in row.logs)
    for row in found:
        mean = np.mean([sorted_counts(log, classes, until) for log in row.logs], axis=0)
        axes.stairs(mean, np.arange(classes + 1) + 0.5, color=row.method.colour, label=_name(row), linewidth=1.5)
    axes.axhline(until / classes, color="0.6", linestyle=":", label="all classes alike")
    axes.set_xlabel("class, the most often acquired first")
    axes.set_ylabel(f"labels among the first {until}")
    axes.legend(frameon=False)
    return figure


def examples_figure(experiment: Experiment, data: DataSet, note: str, columns: int = 10) -> Figure:
    """The first training image of each class under its name."""
    classes = int(data.train_labels.max()) + 1
    lines = -(-classes // columns)
    figure = Figure(figsize=(0.8 * columns, 0.95 * lines + 0.5), layout="constrained")
    figure.suptitle(f"{experiment.title}{note}\nOne image of each class", x=0.01, ha="left")
    for label, axes in enumerate(figure.subplots(lines, columns, squeeze=False).flat):
        axes.axis("off")
        if label < classes:
            first = int((data.train_labels == label).nonzero()[0])
            axes.imshow(as_picture(data.train_images[first]), cmap="gray_r")
            axes.set_title(data.name_of(label), fontsize="small", pad=2)
    return figure


def _axes(title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
    return figure, axes


def _name(row: Row) -> str:
    return f"{row.method.label} ({counted(len(row.logs), 'trial')})"
