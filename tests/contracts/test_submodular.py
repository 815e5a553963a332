"""Diminishing returns and equal returns, of every objective that claims them, on every pair of nested batches."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from infoacq import BatchBALD, from_probs
from infoacq.objective import is_modular, is_submodular
from tests.contracts.table import OBJECTIVES, ObjectiveRow
from tests.predictions import dirichlet, pools

CLAIMED = [row for row in OBJECTIVES if is_submodular(row.objective) and not row.sampled]


def gains_after(objective: Any, p: np.ndarray) -> dict[frozenset[int], np.ndarray]:
    """The gains of every candidate after every batch of at most 3."""
    pool, rng = from_probs(p), np.random.default_rng(0)
    found = {}
    for size in range(min(4, len(p))):
        for batch in combinations(range(len(p)), size):
            state = objective.init(pool)
            for i in batch:
                state = objective.update(state, pool.take(np.array([i])), rng)
            found[frozenset(batch)] = objective.gains(state, pool.take(np.arange(len(p))))
    return found


def assert_diminishing(gains: dict[frozenset[int], np.ndarray], rounding: float) -> None:
    for smaller, larger in combinations(sorted(gains, key=len), 2):
        if smaller < larger:
            left = [i for i in range(len(gains[larger])) if i not in larger]
            assert (gains[larger][left] <= gains[smaller][left] + rounding).all()


@pytest.mark.parametrize("row", CLAIMED, ids=str)
@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_gains_diminish_as_the_batch_grows(row: ObjectiveRow, concentration: float) -> None:
    assert_diminishing(gains_after(row.objective, dirichlet(41, 6, 4, 3, concentration)), 1e-12)


@pytest.mark.parametrize("row", [r for r in CLAIMED if is_modular(r.objective)], ids=str)
def test_gains_of_modular_objectives_stay(row: ObjectiveRow) -> None:
    gains = gains_after(row.objective, dirichlet(42, 5, 4, 3))
    for batch in gains:
        np.testing.assert_array_equal(gains[batch], gains[frozenset()])


@settings(max_examples=50)
@given(pools(max_n=4))
def test_batchbald_gains_are_not_negative_and_diminish_on_any_pool(p: np.ndarray) -> None:
    gains = gains_after(BatchBALD(), p)
    assert all((g >= 0).all() for g in gains.values())
    assert_diminishing(gains, 1e-12)


@pytest.mark.parametrize("row", [r for r in OBJECTIVES if not is_submodular(r.objective)], ids=str)
def test_an_objective_that_claims_nothing_has_a_reason(row: ObjectiveRow) -> None:
    """Two labels can tell together what neither tells alone: y_t is whether the other two labels differ."""
    xor = np.array([[[1, 0], [1, 0]], [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 1], [0, 1]]], dtype=float)
    first, second = xor[None, :, 0], xor[None, :, 1]
    target = np.array([[[1, 0], [0, 1], [0, 1], [1, 0]]], dtype=float)
    assert row.name == "EPIG", "say here why the objective is not submodular"
    objective = type(row.objective)(target)
    gains = gains_after(objective, np.concatenate([first, second]))
    assert gains[frozenset()][1] == pytest.approx(0)
    assert gains[frozenset({0})][1] == pytest.approx(np.log(2))
