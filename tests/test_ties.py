"""What counts as equal: gains nearer than the rounding of what they are differences of, in any unit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, Objective, from_probs, select_batch
from infoacq.gaussian import from_values
from infoacq.objectives import ITL, GaussianBatchBALD, Scores, SetFunction
from infoacq.wrappers import AtMostPerGroup, Constrained, CostAware, WeightedSum
from tests.predictions import dirichlet

PROBS = dirichlet(61, 40, 6, 3)
VALUES = np.random.default_rng(62).standard_normal((40, 8))
WORTH = np.random.default_rng(63).random(40)


def alike(picks: Callable[[Any], list[int]], array: np.ndarray) -> None:
    wanted = picks(array)
    assert wanted != [0, 1, 2, 3]
    assert picks(array.astype(np.float32)) == wanted


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-5])
@pytest.mark.parametrize("directed", [False, True])
def test_small_values_are_told_apart_in_single_precision(directed: bool, size: float) -> None:
    def picks(values: np.ndarray) -> list[int]:
        objective = ITL(from_values(values[:3]), size**2, size**2) if directed else GaussianBatchBALD(size**2)
        return select_batch(from_values(values), objective, 4).indices

    alike(picks, VALUES * size)


@pytest.mark.parametrize("size", [1e-3, 1e-2])
def test_copies_tie_where_what_is_told_is_a_small_difference(size: float) -> None:
    """What tells three copies apart is rounding: the lowest comes first, however the pool is cut."""
    values = (size * np.random.default_rng(65).standard_normal((33, 8))).astype(np.float32)
    objective = ITL(from_values(values[30:]), 1.0, 1.0)
    pool = from_values(np.tile(values[:30], (3, 1)))
    picks = [select_batch(pool.with_shards_of(cut), objective, 3).indices for cut in (90, 7)]
    assert picks[0] == picks[1]
    assert picks[0] == sorted(picks[0])
    assert picks[0][0] < 30


@pytest.mark.parametrize(
    "objective",
    [
        WeightedSum((BALD(),), (1e-7,)),
        Scores(lambda some: 1e-9 * WORTH[some.index]),
        SetFunction(lambda batch: float(1e-9 * WORTH[list(batch)].sum()), submodular=True),
    ],
    ids=["a weight", "scores", "a set function"],
)
@pytest.mark.parametrize("around", [lambda it: it, lambda it: CostAware(it, 1.0 + WORTH)], ids=["alone", "cost"])
def test_small_gains_are_told_apart_in_single_precision(
    objective: Objective[Any], around: Callable[[Any], Any]
) -> None:
    alike(lambda probs: select_batch(probs, around(objective), 4).indices, PROBS)


def test_the_rounding_of_entropies_is_a_tie_whatever_is_around_them() -> None:
    """Candidates of which all draws say the same tell nothing; what is left of their entropies is rounding."""
    one = dirichlet(64, 30, 1, 7).astype(np.float32)
    pool = from_probs(np.repeat(one, 5, axis=1))
    groups = Constrained(BALD(), (AtMostPerGroup(np.arange(30), 1),))
    for objective in (BALD(), WeightedSum((BALD(),), (1e-3,)), groups):
        assert select_batch(pool, objective, 4).indices == [0, 1, 2, 3]
