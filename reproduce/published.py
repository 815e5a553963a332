"""What the authors' own runs gave, to be shown beside ours.

Source: the runs published with the code of Kirsch et al. 2019 (github.com/BlackHC/BatchBALD). The whole of them is
read from a file (see `runs_file`); without it the few medians below are shown.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

from reproduce.curves import Curve, Quartiles, Trajectory, curve, hours
from reproduce.errors import UserError
from reproduce.settings import Experiment

# Indices into MNIST's training set, two of each class: where all their MNIST and Repeated MNIST runs start.
# fmt: off
INITIAL_POINTS = (
    38043, 40091, 17418, 2094, 39879, 3133, 5011, 40683, 54379, 24287,
    9849, 59305, 39508, 39356, 8758, 52579, 13655, 7636, 21562, 41329,
)
# fmt: on

# Median test accuracy after so many acquired points.
MEDIANS = {
    "rmnist_w_noise_multibald_bald_k10_b10": {0: 0.626, 50: 0.787, 100: 0.890, 200: 0.933, 260: 0.946},
    "rmnist_w_noise_independent_bald_k10_b10": {0: 0.631, 50: 0.717, 100: 0.794, 200: 0.876, 260: 0.891},
    "rmnist_w_noise_independent_random_k10_b5": {0: 0.636, 50: 0.755, 100: 0.807, 200: 0.893, 260: 0.910},
    "rmnist_w_noise_independent_mean_stddev_k10_b10": {0: 0.655, 50: 0.787, 100: 0.839, 200: 0.901, 260: 0.928},
    "mnist_multibald_bald_k100_b10": {0: 0.666, 50: 0.847, 100: 0.916, 200: 0.944, 260: 0.956},
    "mnist_independent_bald_k100_b10": {0: 0.662, 50: 0.795, 100: 0.880, 200: 0.930, 260: 0.944},
    "mnist_independent_bald_k100_b1": {0: 0.663, 50: 0.850, 100: 0.905, 200: 0.940, 260: 0.952},
    "emnist_multibald_bald_k10": {0: 0.022, 50: 0.220, 100: 0.306, 200: 0.419, 260: 0.480},
    "emnist_independent_bald_k10": {0: 0.022, 50: 0.152, 100: 0.255, 200: 0.378, 260: 0.424},
    "emnist_balanced_independent_random_k10_b5": {0: 0.020, 50: 0.198, 100: 0.285, 200: 0.417, 260: 0.462},
    "cinic10_nispc20_pretrained_multibald_bald_k50_b10": {0: 0.467, 50: 0.487, 100: 0.505, 200: 0.516, 260: 0.530},
    "cinic10_nispc20_pretrained_independent_bald_k50_b10": {0: 0.467, 50: 0.484, 100: 0.498, 200: 0.519, 260: 0.527},
}


def runs_file(given: Path | None) -> Path | None:
    """The file of published runs: the one given, or paper/published_runs.json in the folder $INFOACQ_SHARED."""
    if given is not None:
        return given
    shared = os.environ.get("INFOACQ_SHARED")
    found = Path(shared, "paper", "published_runs.json") if shared else None
    return found if found and found.exists() else None


def read_runs(path: Path) -> list[dict[str, Any]]:
    """The published runs of a file.

    Raises:
        UserError: it can't be read, or is another file.
    """
    try:
        runs = list(json.loads(path.read_text()).values())
        for run in runs:
            run["group"], run["batch_size"], run["accuracy"]
    except (OSError, ValueError, AttributeError, TypeError, KeyError) as error:
        raise UserError(f"{path} holds no published runs ({error}): give published_runs.json") from error
    return runs


def trajectories(runs: list[dict[str, Any]], group: str) -> list[Trajectory]:
    """The accuracy of each run of a group, and the time that it took."""
    return [
        Trajectory(
            [i * run["batch_size"] for i in range(len(run["accuracy"]))],
            run["accuracy"],
            hours(run.get("train_s", []), run.get("acquire_s", [])),
        )
        for run in runs
        if run["group"] == group
    ]


def published_scores(experiment: Experiment, path: Path | None) -> dict[str, list[list[float]]]:
    """By method, the scores (nats) of each whole batch of the authors' own runs, pick by pick; empty without the file.

    Raises:
        UserError: the file can't be read.
    """
    runs = read_runs(path) if path is not None else []
    size = experiment.settings.acquisition_size
    found = {
        method: [s for run in runs if run["group"] == group for s in run.get("scores", []) if s and len(s) == size]
        for method, group in experiment.published.items()
    }
    return {method: scores for method, scores in found.items() if scores}


def published_curve(group: str, path: Path | None) -> Curve | None:
    """The curve of a group from the file, or what is known of it without; None if that is nothing."""
    if path is not None:
        found = trajectories(read_runs(path), group)
        return curve(found) if found else None
    medians = MEDIANS.get(group)
    if medians is None:
        return None
    return Curve(list(medians), [Quartiles(math.nan, m, math.nan, 0) for m in medians.values()])
