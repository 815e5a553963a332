"""Where a trial starts: its first labels and its validation set, the same for every method."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq import PoolSplit
from reproduce.data import DataSet
from reproduce.errors import UserError
from reproduce.results import check_same_settings, write_whole
from reproduce.seeds import seed_of
from reproduce.settings import Experiment, Settings, describe


def starting_split(experiment: Experiment, trial: int, labels: Int[np.ndarray, " n"], share: float = 1.0) -> PoolSplit:
    """The split that depends on the experiment and the trial alone; `share` is a stand-in's part of the data set."""
    settings = experiment.settings
    seed = seed_of(experiment.name, trial, 0, "split")
    if settings.validation_of_last:
        return _validation_of_last(settings, labels, share, seed)
    if settings.validation_balanced:
        return _validation_balanced(settings, labels, share, seed)
    if not settings.initial_points:
        return PoolSplit.balanced(
            labels.tolist(),
            labelled_per_class=settings.initial_per_class,
            held_out=settings.validation,
            seed=seed,
        )
    rest = np.setdiff1d(np.arange(len(labels)), settings.initial_points)
    held_out = np.random.default_rng(seed).choice(rest, settings.validation, replace=False)
    return PoolSplit.start(len(labels), labelled=settings.initial_points, held_out=held_out)


def validation_points(settings: Settings, split: PoolSplit, share: float = 1.0) -> Int[np.ndarray, " validation"]:
    """The held-out points that training is stopped by."""
    whole: np.ndarray = split.held_out
    return whole[: _scaled(settings.validation, share)] if settings.validation_of_last else whole


def stored_split(path: Path, experiment: Experiment, trial: int, data: DataSet) -> PoolSplit:
    """The split that the trial's first run stored at `path`; made and stored if this is the first.

    Raises:
        UserError: what is there was made with other settings or of another data set, or is damaged.
    """
    wanted = {"experiment": experiment.name, "trial": trial, "settings": describe(experiment.settings)}
    if not path.exists():
        split = starting_split(experiment, trial, data.train_labels.numpy(), data.share)
        write_whole(path, {**wanted, "split": split.to_json()})
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
        split = PoolSplit.from_json(stored["split"])
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is damaged ({error}): remove it and run again") from error
    check_same_settings(stored, wanted, path)
    if split.size != len(data.train_labels):
        raise UserError(
            f"{path} is of {split.size:,} training images, and the data set has {len(data.train_labels):,} now:"
            " give another --out"
        )
    return split


def _validation_of_last(settings: Settings, labels: Int[np.ndarray, " n"], share: float, seed: int) -> PoolSplit:
    """All of the last points are held out, those of the validation first; labels are drawn of the others."""
    rng = np.random.default_rng(seed)
    last = _scaled(settings.validation_of_last, share)
    held_out = rng.permutation(np.arange(len(labels) - last, len(labels)))
    order = rng.permutation(len(labels) - last)
    return PoolSplit.start(len(labels), labelled=_of_each(order, labels, settings.initial_per_class), held_out=held_out)


def _validation_balanced(settings: Settings, labels: Int[np.ndarray, " n"], share: float, seed: int) -> PoolSplit:
    order = np.random.default_rng(seed).permutation(len(labels))
    first = _of_each(order, labels, settings.initial_per_class)
    rest = order[~np.isin(order, first)]
    each = round(_scaled(settings.validation, share) / len(np.unique(labels)))
    return PoolSplit.start(len(labels), labelled=first, held_out=_of_each(rest, labels, each))


def _of_each(order: Int[np.ndarray, " n"], labels: Int[np.ndarray, " all"], number: int) -> Int[np.ndarray, " some"]:
    """The first `number` points of each class in this order."""
    return np.concatenate([order[labels[order] == label][:number] for label in np.unique(labels)])


def _scaled(points: int, share: float) -> int:
    return round(points * share)
