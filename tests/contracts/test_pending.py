"""Points that are with the labellers already count as chosen and are never returned."""

from typing import Any

import numpy as np
import pytest

from infoacq import Greedy, select_batch
from tests.contracts.table import GREEDY_PAIRS, OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import dirichlet

POOL = dirichlet(61, 12, 4, 3, concentration=0.5)


@pytest.mark.parametrize("first", [1, 3, 5])
@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_pending_equals_having_picked(row: ObjectiveRow, first: int) -> None:
    """Sampled configurations among them: pending points use up the same random numbers as picks."""
    whole = select_batch(POOL, row.objective, 7, maximiser=Greedy(), seed=4)
    rest = select_batch(POOL, row.objective, 7 - first, maximiser=Greedy(), pending=whole.indices[:first], seed=4)
    assert rest.indices == whole.indices[first:]
    assert rest.gains == pytest.approx(whole.gains[first:], abs=1e-12)
    assert rest.standard_errors == pytest.approx(whole.standard_errors[first:], abs=1e-12)
    assert rest.conditioned == pytest.approx(whole.scores[first - 1], abs=1e-12)


@pytest.mark.parametrize(("row", "maximiser"), [p for p in GREEDY_PAIRS if not p.values[0].sampled])
def test_by_every_maximiser(row: ObjectiveRow, maximiser: Any) -> None:
    whole = select_batch(POOL, row.objective, 6, maximiser=Greedy(), seed=4)
    rest = select_batch(POOL, row.objective, 3, maximiser=maximiser, pending=whole.indices[:3], seed=4)
    assert rest.indices == whole.indices[3:]


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
@pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
def test_pending_points_are_never_returned(row: ObjectiveRow, maximiser: Any) -> None:
    pending = [11, 0, 5, 7]
    selection = select_batch(POOL, row.objective, 8, maximiser=maximiser, pending=pending, seed=0)
    assert sorted([*selection.indices, *pending]) == list(range(12))


def test_the_worth_of_pending_points_counts_towards_saturation() -> None:
    told = np.array([[[1.0, 0], [0, 1.0]], [[0.9, 0.1], [0.1, 0.9]]])
    from infoacq import BatchBALD, SaturationWarning

    with pytest.warns(SaturationWarning, match="from pick 0 of 1 on"):
        selection = select_batch(told, BatchBALD(), 1, pending=[0])
    assert selection.conditioned == pytest.approx(np.log(2))
    assert selection.saturated_from == 0
    assert selection.scores == pytest.approx([0.0])
