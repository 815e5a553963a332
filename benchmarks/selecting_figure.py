"""The figure of the comparison: seconds along each axis, and what each batch is worth against what it took."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.cases import SWEEPS, Case
from benchmarks.peers import CHOOSERS

if TYPE_CHECKING:
    from benchmarks.selecting import Row

AXES: dict[str, tuple[str, Callable[[Case], int]]] = {
    "pool": ("candidates in the pool", lambda case: case.candidates),
    "batch": ("batch size", lambda case: case.batch_size),
    "draws": ("draws", lambda case: case.draws),
    "classes": ("classes", lambda case: case.classes),
    "configurations": ("configurations", lambda case: case.configurations),
}
SHOWN = "4000x100x10x10"  # the case of the last panel
COLOURS = dict(zip(CHOOSERS, ("C0", "C9", "C2", "0.6", "C3", "C1", "C4"), strict=True))


def draw(rows: Sequence["Row"], path: Path) -> Path:
    """Draw what is kept; lines end where a chooser took too long or was not measured."""
    figure, panels = plt.subplots(2, 3, figsize=(12, 7), layout="constrained")
    for (name, (label, size)), panel in zip(AXES.items(), panels.flat, strict=False):
        _sweep(panel, rows, name, size)
        panel.set(xlabel=label, ylabel="seconds", xscale="log", yscale="log")
        sizes = [size(Case.parsed(case)) for case in SWEEPS[name]]
        panel.set_xticks(sizes, [f"{one:,}" for one in sizes])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    _worth(panels.flat[-1], [row for row in rows if row.case == SHOWN])
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def _sweep(panel: Axes, rows: Sequence["Row"], name: str, size: Callable[[Case], int]) -> None:
    first = Case.parsed(SWEEPS[name][0])
    fixed = [f"{value:,} {word}" for word, value in _fixed(name, first)]
    panel.set_title(", ".join(fixed), fontsize=8)
    for chooser, colour in COLOURS.items():
        mine = [row for row in rows if row.chooser == chooser and row.case in SWEEPS[name]]
        if mine:
            across = [size(Case.parsed(row.case)) for row in mine]
            panel.plot(across, [row.seconds for row in mine], marker="o", color=colour, label=chooser)


def _fixed(name: str, case: Case) -> list[tuple[str, int]]:
    words = {"pool": case.candidates, "batch": case.batch_size, "draws": case.draws, "classes": case.classes}
    names = {"pool": "candidates", "batch": "picks", "draws": "draws", "classes": "classes"}
    return [(names[key], value) for key, value in words.items() if key != name]


def _worth(panel: Axes, rows: Sequence["Row"]) -> None:
    for row in rows:
        error = 2 * row.standard_error
        panel.errorbar(row.seconds, row.information, error, marker="o", color=COLOURS[row.chooser], capsize=3)
    case = Case.parsed(SHOWN)
    panel.set_title(f"{case.candidates:,} candidates, {case.draws} draws, {case.batch_size} picks", fontsize=8)
    panel.set(xlabel="seconds", ylabel="information of the batch (nats, ± 2 s.e.)", xscale="log")
    panel.grid(alpha=0.3)
