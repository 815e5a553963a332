"""Where a trial starts: its first labels and its validation set, the same for every method."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from infoacq import PoolSplit
from reproduce.errors import UserError
from reproduce.results import check_same_settings, write_whole
from reproduce.seeds import seed_of
from reproduce.settings import Experiment, describe


def starting_split(experiment: Experiment, trial: int, labels: Int[np.ndarray, " n"]) -> PoolSplit:
    """The split that depends on the experiment and the trial alone."""
    settings = experiment.settings
    seed = seed_of(experiment.name, trial, 0, "split")
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


def stored_split(path: Path, experiment: Experiment, trial: int, labels: Int[np.ndarray, " n"]) -> PoolSplit:
    """The split that the trial's first run stored at `path`; made and stored if this is the first.

    Raises:
        UserError: what is there was made with other settings, or is damaged.
    """
    wanted = {"experiment": experiment.name, "trial": trial, "settings": describe(experiment.settings)}
    if not path.exists():
        write_whole(path, {**wanted, "split": starting_split(experiment, trial, labels).to_json()})
    try:
        stored: dict[str, Any] = json.loads(path.read_text())
        split = PoolSplit.from_json(stored["split"])
    except (ValueError, TypeError, KeyError) as error:
        raise UserError(f"{path} is damaged ({error}): remove it and run again") from error
    check_same_settings(stored, wanted, path)
    return split
