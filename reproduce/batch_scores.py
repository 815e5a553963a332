"""The figure of scores: what a batch tells with each pick, and log K, the most that it can tell of K draws."""

import itertools
import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from infoacq import BatchBALD
from reproduce.curves import quartiles
from reproduce.settings import Experiment
from reproduce.tables import Row

ROUNDING = 1e-5  # nats; logs hold six decimals

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
    """Medians over steps and trials with bands from quartile to quartile; None if no batch was chosen jointly.

    `published` holds the batches of the authors' own runs by method.
    """
    size = experiment.settings.acquisition_size
    shown = [(row, batches) for row in joint_rows(found) if (batches := batches_of(row, size))]
    if not shown or size == 1:
        return None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for row, batches in shown:
        colour, name = row.method.colour, row.method.name
        draws = round(math.exp(row.logs[0].steps[0].log_draws))
        _line(axes, batches, draws, colour, row.method.label, "-")
        if name in published:
            _line(axes, published[name], experiment.settings.draws, colour, f"{row.method.label}, published", "--")
        axes.axhline(math.log(draws), color=colour, linestyle=":", linewidth=1)
        axes.annotate(f"log {draws}", (size, math.log(draws)), (0, 3), textcoords="offset points", ha="right")
    axes.set_title(f"{experiment.title}{note}", loc="left")
    axes.set_xlabel("picks")
    axes.set_ylabel("what the batch so far tells of the draws (nats)")
    axes.set_ylim(0, 1.1 * max(row.logs[0].steps[0].log_draws for row, _ in shown))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _line(axes: Axes, batches: Scores, draws: int, colour: str, label: str, style: str) -> None:
    by_pick = [quartiles(scores) for scores in zip(*batches, strict=True)]
    picks = range(1, len(by_pick) + 1)
    told = f"{label} ({len(batches)} batches, {above(batches, draws)} above log {draws}, {falling(batches)} fall)"
    if style == "-":
        axes.fill_between(picks, [q.q25 for q in by_pick], [q.q75 for q in by_pick], color=colour, alpha=0.15, lw=0)
    axes.plot(picks, [q.median for q in by_pick], color=colour, linestyle=style, label=told)
