"""What a selection reports is what its batch is worth, by enumeration."""

from typing import Any

import numpy as np
import pytest

from infoacq import BatchBALD, Greedy, select_batch
from tests import oracles
from tests.backends import Backend
from tests.contracts.table import OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import STANDARD, dirichlet, dyadic


def assert_worth(selection: Any, row: ObjectiveRow, pool: list, tolerance: float) -> None:
    """Each score is the oracle's value of the batch up to there; estimates within 5 of their standard errors."""
    for size in range(1, len(selection) + 1):
        error = np.linalg.norm(selection.standard_errors[:size])
        assert (error > 0) <= row.sampled
        wanted = row.value(pool, selection.indices[:size])
        assert selection.scores[size - 1] == pytest.approx(wanted, abs=tolerance + 5 * error)


@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_scores_are_the_values_of_the_batch(xp: Backend, row: ObjectiveRow) -> None:
    p = dyadic(21, *STANDARD)
    selection = select_batch(xp.array(p), row.make(xp.array), 5, maximiser=Greedy(), seed=0)
    assert_worth(selection, row, p.tolist(), 10 * xp.tolerance)


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_every_maximiser_reports_the_value_of_its_batch(row: ObjectiveRow, maximiser: Any) -> None:
    p = dirichlet(22, 8, 4, 3, concentration=0.5)
    selection = select_batch(p, row.objective, 5, maximiser=maximiser, seed=0)
    assert_worth(selection, row, p.tolist(), 1e-9)


@pytest.mark.parametrize("row", [r for r in OBJECTIVES if not r.sampled], ids=str)
def test_every_pick_of_greedy_is_the_best_there_is(row: ObjectiveRow) -> None:
    pool = dirichlet(23, 7, 4, 3).tolist()
    selection = select_batch(np.array(pool), row.objective, 4, maximiser=Greedy(), seed=0)
    for size in range(4):
        before = selection.indices[:size]
        gains = {n: row.value(pool, [*before, n]) - row.value(pool, before) for n in range(7) if n not in before}
        assert selection.indices[size] == max(gains, key=gains.__getitem__)


@pytest.mark.parametrize("seed", range(5))
def test_greedy_reaches_its_guarantee(seed: int) -> None:
    p = dirichlet(seed, 7, 5, 2, concentration=0.3)
    score = select_batch(p, BatchBALD(), 3).scores[-1]
    best = oracles.best_batch(p.tolist(), 3)
    assert (1 - 1 / np.e) * best <= score <= best + 1e-9
