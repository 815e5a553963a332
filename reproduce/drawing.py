"""Which figures an experiment has, and where they are written."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from reproduce import experiments
from reproduce.ablation import ablation_figure
from reproduce.acquired_classes import entropy_figure, examples_figure, histogram_figure
from reproduce.batch_scores import scores_figure
from reproduce.data import DataSet
from reproduce.emnist import CLASSES as EMNIST_CLASSES
from reproduce.figures import accuracy_figure
from reproduce.pictures import pictures_figure
from reproduce.published import published_scores
from reproduce.runs import folder
from reproduce.settings import Experiment, smoke
from reproduce.sizes import sizes_figure
from reproduce.tables import Row, made_with, rows
from reproduce.timing import time_figure


def draw_all(
    experiment: Experiment, found: Sequence[Row], scale: str, out: Path, published: Path | None, data: Path | None
) -> Iterator[Path]:
    """Write every figure that the logs are enough for beside them; its path, one after the other.

    Raises:
        UserError: the images of the pictures are not under `data`.
    """
    place = folder(out, experiment, scale)
    note = _note(scale, found)
    yield save(accuracy_figure(experiment, found, note), place / "accuracy.png")
    beside = published_scores(experiment, published) if scale == "paper" else {}
    perhaps = {"scores.png": scores_figure(experiment, found, note, beside)}
    plain = experiments.named(experiment.name)
    if plain in experiments.ABLATION:
        perhaps["ablation.png"] = ablation_figure(_family(experiments.ABLATION, scale, out, published), note)
    if plain in experiments.ACQUISITION_SIZES:
        family = _family(experiments.ACQUISITION_SIZES, scale, out, published)
        perhaps |= {"sizes.png": sizes_figure(family, note), "time.png": time_figure(family, note)}
    for name, figure in perhaps.items():
        if figure is not None:
            yield save(figure, place / name)
    if plain in experiments.MANY_CLASSES:
        yield save(entropy_figure(experiment, found, note, EMNIST_CLASSES), place / "class-entropy.png")
        yield save(histogram_figure(experiment, found, note, EMNIST_CLASSES), place / "class-histogram.png")
    if data is not None or plain is experiments.DIGITS:
        yield from _draw_images(experiment, found, note, place, experiment.settings.data.load(data))


def _draw_images(experiment: Experiment, found: Sequence[Row], note: str, place: Path, data: DataSet) -> Iterator[Path]:
    figure = pictures_figure(experiment, found, note, data)
    if figure is not None:
        yield save(figure, place / "pictures.png")
    if experiments.named(experiment.name) in experiments.MANY_CLASSES:
        yield save(examples_figure(experiment, data, note), place / "examples.png")


def _note(scale: str, found: Sequence[Row]) -> str:
    """What stands behind the title of every figure: whatever makes it other than the paper's."""
    said = ", ".join(filter(None, (made_with(found), "smoke scale" if scale == "smoke" else "")))
    return f", {said}" if said else ""


def save(figure: Figure, path: Path) -> Path:
    """Write the figure as a picture, its folder made if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _family(
    members: Sequence[Experiment], scale: str, out: Path, published: Path | None
) -> list[tuple[Experiment, list[Row]]]:
    at_scale = [smoke(plain) if scale == "smoke" else plain for plain in members]
    return [(experiment, rows(experiment, scale, out, published)) for experiment in at_scale]
