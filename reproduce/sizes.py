"""The figure over acquisition sizes: accuracy over labels, a panel each for BALD and BatchBALD."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.figures import draw_published, draw_quartiles
from reproduce.methods import BALD_KEPT, BATCHBALD
from reproduce.settings import Experiment
from reproduce.tables import Row
from reproduce.words import counted

COLOURS = {1: "tab:purple", 5: "tab:blue", 10: "tab:orange", 40: "tab:red"}


@dataclass(frozen=True)
class Sized:
    """A method's runs with one acquisition size."""

    size: int
    row: Row

    @property
    def colour(self) -> str:
        """The same in both panels."""
        return COLOURS.get(self.size, "0.3")

    @property
    def label(self) -> str:
        """For the legend."""
        return f"size {self.size} ({counted(len(self.row.logs), 'trial')})"


def by_method(members: Sequence[tuple[Experiment, Sequence[Row]]]) -> dict[str, list[Sized]]:
    """What has been run of BALD and of BatchBALD, by the method's label."""
    shown: dict[str, list[Sized]] = {}
    for method in (BALD_KEPT, BATCHBALD):
        for experiment, found in members:
            size = experiment.settings.acquisition_size
            shown.setdefault(method.label, []).extend(Sized(size, r) for r in found if r.method.name == method.name)
    return {label: sized for label, sized in shown.items() if sized}


def panels(labels: Sequence[str], title: str) -> tuple[Figure, list[Axes]]:
    """A panel for each, with one axis of accuracy."""
    figure = Figure(figsize=(1 + 4.5 * len(labels), 4.5), layout="constrained")
    axes = list(figure.subplots(1, len(labels), sharex=True, sharey=True, squeeze=False)[0])
    for panel, label in zip(axes, labels, strict=True):
        panel.set_title(label)
        panel.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, x=0.01, ha="left")
    axes[0].set_ylabel("test accuracy (%), median and quartiles")
    return figure, axes


def sizes_figure(members: Sequence[tuple[Experiment, Sequence[Row]]], note: str) -> Figure | None:
    """Medians over trials with bands from quartile to quartile; published medians dashed.

    None as long as only one acquisition size has been run: there is nothing to compare it with.
    """
    shown = by_method(members)
    if len({one.size for sized in shown.values() for one in sized}) < 2:
        return None
    figure, axes = panels(list(shown), f"MNIST by acquisition size{note}")
    for panel, sized in zip(axes, shown.values(), strict=True):
        for one in sized:
            curve, published = one.row.curve, one.row.published
            draw_quartiles(panel, curve.acquired, curve.quartiles, one.colour, one.label)
            if published:
                draw_published(panel, published.acquired, published.quartiles, one.colour)
        panel.plot([], [], color="0.4", linestyle="--", linewidth=1, label="published medians")
        panel.set_xlabel("labels acquired (beyond the initial ones)")
        panel.legend(frameon=False, loc="lower right")
    return figure
