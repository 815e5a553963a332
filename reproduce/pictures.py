"""The figure of pictures: the images that BALD and BatchBALD would label, asked of the same model."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from reproduce.data import DataSet
from reproduce.methods import BALD_KEPT, BATCHBALD
from reproduce.results import Step
from reproduce.settings import Experiment
from reproduce.tables import Row

COPIES = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#D55E00")


def pictures_figure(experiment: Experiment, found: Sequence[Row], note: str, data: DataSet) -> Figure | None:
    """The first batch of each method in a trial that both have run; None if there is no such trial.

    The methods of a trial begin with the same labels and seeds, so their first batches are chosen from the same
    model and the same draws. Copies of one original have frames of one colour.
    """
    by_method = {row.method.name: {log.header["trial"]: log.steps[0] for log in row.logs} for row in found}
    both = by_method.get(BALD_KEPT.name, {}).keys() & by_method.get(BATCHBALD.name, {}).keys()
    if not both:
        return None
    methods, trial = (BALD_KEPT, BATCHBALD), min(both)
    size = experiment.settings.acquisition_size
    figure = Figure(figsize=(max(0.85 * size + 0.5, 7.0), 3.4), layout="constrained")
    figure.suptitle(f"{experiment.title}{note}\nThe first {size} images that each method labels", x=0.01, ha="left")
    for method, part in zip(methods, figure.subfigures(2, 1, squeeze=False)[:, 0], strict=True):
        step = by_method[method.name][trial]
        different = len({index % data.originals for index in step.chosen})
        part.suptitle(f"{method.label}: {different} different images", x=0.01, ha="left", fontsize="medium")
        _row(part.subplots(1, size, squeeze=False)[0], step, data)
    return figure


def as_picture(image: Float[Tensor, "channels height width"]) -> Float[np.ndarray, "height width channels"]:
    """An image as matplotlib shows it: colours from 0 to 1, grey as it is."""
    pixels = image.permute(1, 2, 0).numpy()
    if pixels.shape[2] == 1:
        return pixels
    picture: np.ndarray = (pixels - pixels.min()) / max(float(np.ptp(pixels)), 1e-12)
    return picture


def _row(axes: Iterable[Axes], step: Step, data: DataSet) -> None:
    times = Counter(index % data.originals for index in step.chosen)
    repeated = [original for original, count in times.items() if count > 1]
    for ax, index, target in zip(axes, step.chosen, step.targets, strict=True):
        ax.imshow(as_picture(data.train_images[index]), cmap="gray_r")
        ax.set_xlabel(data.name_of(target), fontsize="small")
        ax.set(xticks=[], yticks=[])
        original = index % data.originals
        colour = COPIES[repeated.index(original) % len(COPIES)] if original in repeated else "0.85"
        ax.spines[:].set(color=colour, linewidth=3 if original in repeated else 1)
