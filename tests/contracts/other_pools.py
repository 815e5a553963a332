"""Objectives on pools that hold no class probabilities, one row each: a new one joins every test with its row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from infoacq.gaussian import from_embeddings, from_values
from infoacq.objectives import ITL, VTL, GaussianBatchBALD, MultiOutputBatchBALD
from infoacq.outputs import from_outputs
from tests import dense
from tests.oracles import batchbald
from tests.predictions import dyadic

SIZE, NOISE = 9, 0.25
ArrayOf = Callable[[np.ndarray], Any]


def eighths(seed: int, *shape: int) -> np.ndarray:
    """Random numbers in 8ths, so that every dtype holds them."""
    return np.round(np.random.default_rng(seed).standard_normal(shape) * 8) / 8


EMBEDDINGS, AIMS = eighths(1, SIZE, 4), eighths(2, 2, 4)
VALUES, VECTORS = eighths(3, SIZE, 6), eighths(4, SIZE, 6, 2)
OUTPUTS = [dyadic(10 + c, SIZE, 4, c) for c in (2, 3, 1)]


@dataclass(frozen=True)
class OtherRow:
    """One objective on one kind of pool, made with arrays of a maker's, and the value of a batch of positions."""

    name: str
    pool: Callable[[ArrayOf], Any]
    make: Callable[[ArrayOf], Any]
    value: Callable[[Sequence[int]], float]

    def __str__(self) -> str:
        return self.name


def of_rows(features: np.ndarray, value: Callable[[np.ndarray], float]) -> Callable[[Sequence[int]], float]:
    """The value of a batch by the rows of features of all outputs of its candidates."""
    return lambda batch: value(features[list(batch)].reshape(-1, features.shape[-1])) if batch else 0.0


def informed(features: np.ndarray) -> Callable[[Sequence[int]], float]:
    return of_rows(features, lambda points: dense.information(points, NOISE))


def every_label(batch: Sequence[int]) -> float:
    """Each label of each candidate as a point of its own."""
    return batchbald([p[i].tolist() for i in batch for p in OUTPUTS])


OTHERS = [
    OtherRow(
        "embeddings", lambda a: from_embeddings(a(EMBEDDINGS)), lambda _: GaussianBatchBALD(NOISE), informed(EMBEDDINGS)
    ),
    OtherRow(
        "values",
        lambda a: from_values(a(VALUES)),
        lambda _: GaussianBatchBALD(NOISE),
        informed(dense.rows_of_draws(VALUES)),
    ),
    OtherRow(
        "vectors",
        lambda a: from_values(a(VECTORS)),
        lambda _: GaussianBatchBALD(NOISE),
        informed(dense.rows_of_draws(VECTORS)),
    ),
    OtherRow(
        "ITL",
        lambda a: from_embeddings(a(EMBEDDINGS)),
        lambda a: ITL(from_embeddings(a(AIMS)), NOISE),
        of_rows(EMBEDDINGS, lambda points: dense.told(points, AIMS, NOISE)),
    ),
    OtherRow(
        "VTL",
        lambda a: from_embeddings(a(EMBEDDINGS)),
        lambda a: VTL(from_embeddings(a(AIMS)), NOISE),
        of_rows(EMBEDDINGS, lambda points: dense.lowered(points, AIMS, NOISE)),
    ),
    OtherRow("outputs", lambda a: from_outputs([a(p) for p in OUTPUTS]), lambda _: MultiOutputBatchBALD(), every_label),
]
