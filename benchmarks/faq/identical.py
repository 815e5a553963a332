"""Why are two identical points chosen? What a second label of the same point tells, by how noisy labels are."""

from typing import Any

import numpy as np

from infoacq import BatchBALD, select_batch

NOISE = (0.0, 0.05, 0.1, 0.2, 0.3)


def run() -> list[dict[str, Any]]:
    """Gains of a point and of its copy (nats), when two draws disagree on it and labels are wrong with this chance."""
    rows = []
    for noise in NOISE:
        point = np.array([[1 - noise, noise], [noise, 1 - noise]])
        gains = select_batch(np.stack([point, point]), BatchBALD(), 2).gains
        rows.append({"labels wrong": noise, "first": round(gains[0], 4), "copy": round(gains[1], 4)})
    return rows
