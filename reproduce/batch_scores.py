"""The figure of scores: what a batch tells with each pick, and log K, the most that it can tell of K draws."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from infoacq import BatchBALD
from reproduce.curves import quartiles
from reproduce.settings import Experiment
from reproduce.tables import Row
from reproduce.words import counted

ROUNDING = 1e-5  # nats; logs hold six decimals
NEAR = 0.05  # nats from log K, about a fiftieth of log 10

Scores = Sequence[Sequence[float]]  # of batches, pick by pick (nats)


def joint_rows(found: Sequence[Row]) -> list[Row]:
    """The methods whose scores are joint mutual informations: those that log K bounds."""
    return [row for row in found if isinstance(row.method.objective, BatchBALD)]


def batches_of(row: Row, size: int) -> list[list[float]]:
    """The scores of each whole batch that the method chose."""
    return [step.scores for log in row.logs for step in log.steps if len(step.scores) == size]


def above(scores: Scores, draws: int) -> int:
    """How many batches score more than log K somewhere."""
    return sum(max(batch) > math.log(draws) + ROUNDING for batch in scores)


def falling(scores: Scores) -> int:
    """How many batches score less with some pick than without it."""
    return sum(any(after < before for before, after in itertools.pairwise(batch)) for batch in scores)


def scores_figure(
    experiment: Experiment, found: Sequence[Row], note: str, published: Mapping[str, Scores]
) -> Figure | None:
    """Medians over steps and trials with bands from quartile to quartile; and each batch near log K, if one comes near.

    `published` holds the batches of the authors' own runs by method. None if no batch was chosen jointly.
    """
    size = experiment.settings.acquisition_size
    shown = [(row, batches) for row in joint_rows(found) if (batches := batches_of(row, size))]
    if not shown or size == 1:
        return None
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes, near = figure.subplots(1, 2, width_ratios=(3, 2))
    for row, batches in shown:
        _draw(axes, near, row, batches, published.get(row.method.name), experiment.settings.draws)
    axes.set_title(f"{experiment.title}{note}", loc="left")
    axes.set_ylabel("what the batch so far tells of the draws (nats)")
    axes.set_ylim(0, 1.1 * max(row.logs[0].steps[0].log_draws for row, _ in shown))
    _finish(axes, "lower right")
    if any(max(line.get_ydata()) > -NEAR for line in near.lines):
        near.axhline(0.0, color="black", linestyle=":", linewidth=1)
        near.set_title("near log K", loc="left")
        near.set_ylabel("the same less log K (nats)")
        near.set_ylim(-NEAR, 1.05 * max(NEAR, *(max(line.get_ydata()) for line in near.lines)))
        _finish(near, "upper left")
    else:  # nothing to look at closely
        near.remove()
        axes.set_subplotspec(figure.add_gridspec(1, 1)[0])
        figure.set_size_inches(6.5, 4.5)
    return figure


def _finish(panel: Axes, corner: Literal["lower right", "upper left"]) -> None:
    panel.set_xlabel("picks")
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.legend(loc=corner, fontsize="small", edgecolor="none", framealpha=0.9)
    panel.spines[["top", "right"]].set_visible(False)


def _draw(axes: Axes, near: Axes, row: Row, batches: Scores, published: Scores | None, draws: int) -> None:
    colour, label = row.method.colour, row.method.label
    own = round(math.exp(row.logs[0].steps[0].log_draws))
    _line(axes, batches, own, colour, label, "-")
    if published:
        _line(axes, published, draws, colour, f"{label}, published", "--")
        _each(near, published, draws, "0.6", "each published batch")
    _each(near, batches, own, colour, f"each batch of {label}")
    axes.axhline(math.log(own), color=colour, linestyle=":", linewidth=1)
    axes.annotate(f"log {own}", (len(batches[0]), math.log(own)), (0, 3), textcoords="offset points", ha="right")


def _each(axes: Axes, batches: Scores, draws: int, colour: str, label: str) -> None:
    for i, batch in enumerate(batches):
        picks, over = range(1, len(batch) + 1), [score - math.log(draws) for score in batch]
        axes.plot(picks, over, color=colour, linewidth=0.6, alpha=0.5, label="_" * bool(i) + label)


def _line(axes: Axes, batches: Scores, draws: int, colour: str, label: str, style: str) -> None:
    by_pick = [quartiles(scores) for scores in zip(*batches, strict=True)]
    picks = range(1, len(by_pick) + 1)
    number = counted(len(batches), "batch", "batches")
    told = f"{label} ({number}, {above(batches, draws)} above log {draws}, {falling(batches)} fall)"
    if style == "-":
        axes.fill_between(picks, [q.q25 for q in by_pick], [q.q75 for q in by_pick], color=colour, alpha=0.15, lw=0)
    axes.plot(picks, [q.median for q in by_pick], color=colour, linestyle=style, label=told)
