"""Lazy evaluation chooses the batch of plain greedy and evaluates less."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq import BatchBALD, Greedy, LazyGreedy, select_batch
from infoacq.objective import is_submodular
from tests.backends import Backend
from tests.contracts.table import DRAWS, OBJECTIVES, ObjectiveRow
from tests.predictions import STANDARD, dirichlet, dyadic, pools

SUBMODULAR = [row for row in OBJECTIVES if is_submodular(row.objective)]
SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@SATURATING
@pytest.mark.parametrize("first", [1, 4, 64])
@pytest.mark.parametrize("row", [r for r in SUBMODULAR if not r.sampled], ids=str)
def test_lazy_is_greedy_with_fewer_evaluations(row: ObjectiveRow, first: int) -> None:
    p = dirichlet(71, 300, DRAWS, 3, concentration=0.3)
    greedy = select_batch(p, row.objective, 6, maximiser=Greedy(), seed=0)
    lazy = select_batch(p, row.objective, 6, maximiser=LazyGreedy(first), seed=0)
    assert lazy.indices == greedy.indices
    assert lazy.gains == pytest.approx(greedy.gains, abs=1e-12)
    assert greedy.evaluations == 6 * 300
    assert lazy.evaluations < greedy.evaluations


def test_evaluations_are_counted_as_they_happen() -> None:
    asked: list[int] = []

    class Counting(BatchBALD):
        def gains(self, joint: Any, candidates: Any) -> Any:
            asked.append(len(candidates))
            return super().gains(joint, candidates)

    for maximiser in (Greedy(), LazyGreedy(first=3)):
        asked.clear()
        selection = select_batch(dirichlet(72, 80, 8, 3), Counting(), 5, maximiser=maximiser)
        assert selection.evaluations == sum(asked)


@SATURATING
def test_lazy_evaluates_a_small_part_of_a_pool_where_few_matter() -> None:
    p = np.concatenate([dirichlet(73, 20, 10, 3, 0.2), dirichlet(74, 2_000, 10, 3, 50.0)])
    greedy, lazy = (select_batch(p, BatchBALD(), 5, maximiser=m) for m in (Greedy(), LazyGreedy(first=8)))
    assert lazy.indices == greedy.indices
    assert lazy.evaluations < 2_020 + 4 * 200


@SATURATING
@settings(max_examples=60)
@given(pools(max_n=9), st.integers(1, 5))
def test_lazy_is_greedy_on_any_pool_with_ties(p: np.ndarray, first: int) -> None:
    size = min(len(p), 5)
    lazy = select_batch(p, BatchBALD(), size, maximiser=LazyGreedy(first))
    assert lazy.indices == select_batch(p, BatchBALD(), size, maximiser=Greedy()).indices


@SATURATING
def test_lazy_is_greedy_on_every_backend(maker: Backend) -> None:
    p = maker.array(dyadic(75, *STANDARD))
    assert select_batch(p, BatchBALD(), 5, maximiser=LazyGreedy(2)).indices == (
        select_batch(p, BatchBALD(), 5, maximiser=Greedy()).indices
    )
