"""The figures of docs/objectives.md and docs/faq.md, from the rows that benchmarks.objectives and benchmarks.faq kept.

python -m benchmarks.figures     # a few seconds; writes benchmarks/results/*.png
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tqdm import tqdm

RESULTS = Path(__file__).parent / "results"
# Okabe and Ito's colours, which people who are colour-blind can tell apart.
COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#D55E00")


class Curve(NamedTuple):
    """How the curves of one experiment are shown: what is counted, from where, how many a round, and what of it."""

    counted: str
    start: int
    a_round: int
    measured: str


CURVES = {
    "redundancy": Curve("labels", 20, 5, "test accuracy"),
    "noise": Curve("labels", 20, 5, "test accuracy"),
    "targets": Curve("labels", 20, 5, "test accuracy on 3, 5, 8 and 9"),
    "several labels": Curve("pairs labelled", 0, 3, "test accuracy"),
    "regression": Curve("labels", 20, 10, "error (degrees)"),
}


def main() -> None:
    """Draw and write every figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER", help=f"default: {RESULTS.name}/")
    options = parser.parse_args()
    objectives, faq = (json.loads((RESULTS / f"{name}.json").read_text()) for name in ("objectives", "faq"))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, figure in tqdm([*of_objectives(objectives), *of_questions(faq)], desc="figures"):
        figure.savefig(options.out / f"{name}.png", dpi=110)


def of_objectives(results: dict[str, Any]) -> Iterator[tuple[str, Figure]]:
    """The curve of each chooser in each experiment that has rounds, with a band of one standard error."""
    for name, shown in CURVES.items():
        figure, axes = empty(
            f"number of {shown.counted}" if shown.counted == "labels" else shown.counted, shown.measured
        )
        rows = results[name]["rows"]
        # Random is black, what is recommended has the same colour in every figure.
        for row, colour in zip(rows, [*COLOURS[: len(rows) - 1], COLOURS[-1]], strict=True):
            means, errors = np.array(row["curve"]), np.array(row["curve, s.e."])
            at = shown.start + shown.a_round * np.arange(len(means))
            axes.plot(at, means, color=colour, marker="o", markersize=3, label=row["chooser"])
            axes.set_xticks(at)
            axes.fill_between(at, means - errors, means + errors, color=colour, alpha=0.15, linewidth=0)
        axes.legend(frameon=False, fontsize=8)
        yield f"objectives-{name.replace(' ', '-')}", figure


def of_questions(results: dict[str, Any]) -> Iterator[tuple[str, Figure]]:
    """A figure for each question whose answer is a curve."""
    yield "faq-identical", identical(results["identical points"]["rows"])
    yield "faq-stuck", stuck(results["stuck at log k"]["rows"])
    yield "faq-draws", draws(results["draws"]["rows"])


def identical(rows: Sequence[dict[str, Any]]) -> Figure:
    """What a point tells, and what its copy tells after it, by how noisy labels are."""
    figure, axes = empty("share of labels that are wrong", "gain (nats)")
    for key, colour in (("first", COLOURS[3]), ("copy", COLOURS[4])):
        axes.plot([row["labels wrong"] for row in rows], [row[key] for row in rows], "o-", color=colour, label=key)
    axes.legend(frameon=False)
    return figure


def stuck(rows: Sequence[dict[str, Any]]) -> Figure:
    """The score pick by pick for few draws and for many, and log k of each."""
    figure, axes = empty("picks", "score (nats)")
    for row, colour in zip(rows, (COLOURS[4], COLOURS[3]), strict=True):
        picks = range(1, len(row["scores"]) + 1)
        axes.plot(picks, row["scores"], "o-", color=colour, label=f"{row['draws']:,} draws")
        axes.axhline(row["log k"], color=colour, linestyle=":", label=f"log {row['draws']:,}")
    axes.legend(frameon=False, fontsize=8)
    return figure


def draws(rows: Sequence[dict[str, Any]]) -> Figure:
    """What select_batch says of a batch and what it is worth, by the number of draws."""
    figure, axes = empty("draws k", "information of five labels (nats)")
    shown = (("log k", COLOURS[0], ":"), ("score", COLOURS[2], "o-"), ("worth", COLOURS[3], "o-"))
    for key, colour, style in shown:
        axes.plot([row["draws"] for row in rows], [row[key] for row in rows], style, color=colour, label=key)
    axes.set_xscale("log")
    axes.legend(frameon=False)
    return figure


def empty(along: str, up: str) -> tuple[Figure, Axes]:
    """A small figure with its axes named."""
    figure = Figure(figsize=(5.2, 3.2), layout="constrained")
    axes = figure.add_subplot(xlabel=along, ylabel=up)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


if __name__ == "__main__":
    main()
