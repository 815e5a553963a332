"""The figures that are drawn from logs: test accuracy over acquired labels."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.curves import Quartiles
from reproduce.settings import Experiment
from reproduce.tables import Row, made_with
from reproduce.words import counted


def accuracy_figure(experiment: Experiment, found: Sequence[Row], note: str) -> Figure:
    """Medians over trials with bands from quartile to quartile; published medians dashed."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for row in found:
        label = f"{row.method.label} ({counted(len(row.logs), 'trial')})"
        draw_quartiles(axes, row.curve.acquired, row.curve.quartiles, row.method.colour, label)
        if row.published:
            draw_published(axes, row.published.acquired, row.published.quartiles, row.method.colour)
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


def draw_quartiles(
    axes: Axes, x: Sequence[int] | Sequence[float], accuracy: Sequence[Quartiles], colour: str, label: str
) -> None:
    """The median accuracy (%), and a band from quartile to quartile."""
    low, middle, high = ([100 * getattr(q, name) for q in accuracy] for name in ("q25", "median", "q75"))
    axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.plot(x, middle, color=colour, label=label)


def draw_published(
    axes: Axes, x: Sequence[int] | Sequence[float], accuracy: Sequence[Quartiles], colour: str, label: str | None = None
) -> None:
    """The median accuracy (%) of the authors' own runs, dashed."""
    axes.plot(x, [100 * q.median for q in accuracy], color=colour, linestyle="--", linewidth=1, label=label)
