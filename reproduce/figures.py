"""The figures that are drawn from logs: test accuracy over acquired labels."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.curves import Curve
from reproduce.settings import Experiment
from reproduce.tables import Row, made_with
from reproduce.words import counted


def accuracy_figure(experiment: Experiment, found: Sequence[Row], note: str) -> Figure:
    """Medians over trials with bands from quartile to quartile; published medians dashed."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for row in found:
        _line(axes, row.curve, row.method.colour, f"{row.method.label} ({counted(len(row.logs), 'trial')})")
        if row.published:
            _published(axes, row.published, row.method.colour)
    if any(row.published for row in found):
        label = f"published medians{', of the official data' * bool(made_with(found))}"
        axes.plot([], [], color="0.4", linestyle="--", label=label)
    for target in experiment.targets:
        axes.axhline(100 * target, color="0.8", linewidth=0.8, zorder=0)
    axes.set_title(f"{experiment.title}{note}", loc="left")
    settings = experiment.settings
    some_before = bool(settings.initial_points or settings.initial_per_class)
    axes.set_xlabel("labels acquired (beyond the initial ones)" if some_before else "labels acquired")
    if any(len(row.logs) < 4 for row in found):  # quartiles by rank
        axes.plot([], [], linestyle="", label="bands of fewer than 4 trials: least to most")
    axes.set_ylabel("test accuracy (%), median and quartiles")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.01)
    return figure


def _line(axes: Axes, curve: Curve, colour: str, label: str) -> None:
    low, middle, high = ([100 * getattr(q, name) for q in curve.quartiles] for name in ("q25", "median", "q75"))
    axes.fill_between(curve.acquired, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(curve.acquired, middle, color=colour, label=label)


def _published(axes: Axes, curve: Curve, colour: str) -> None:
    axes.plot(curve.acquired, [100 * q.median for q in curve.quartiles], color=colour, linestyle="--", linewidth=1)
