"""What must change nothing: the order of the pool, who else is in it, and how it is cut."""

from typing import Any

import numpy as np
import pytest

from infoacq import Greedy, _arrays, from_probs, select_batch
from tests.contracts.table import OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import dirichlet

POOL = dirichlet(31, 9, 4, 3, concentration=0.5)
BY_PREDICTION = [row for row in OBJECTIVES if not row.by_position]


def chosen(pool: Any, row: ObjectiveRow, maximiser: Any, **options: Any) -> tuple[list[int], list[float]]:
    selection = select_batch(pool, row.objective, 5, maximiser=maximiser, seed=0, **options)
    return selection.indices, selection.gains


@pytest.mark.parametrize("row", BY_PREDICTION, ids=str)
def test_a_permuted_pool_gives_the_same_batch(row: ObjectiveRow) -> None:
    order = np.random.default_rng(0).permutation(len(POOL))
    indices, gains = chosen(POOL, row, Greedy())
    moved, gains_moved = chosen(POOL[order], row, Greedy())
    assert order[moved].tolist() == indices
    assert gains_moved == pytest.approx(gains, abs=1e-12)


@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_gains_of_some_are_those_they_have_among_all(row: ObjectiveRow) -> None:
    objective, pool = row.objective, from_probs(POOL)
    state = objective.update(objective.init(pool), pool.take(np.array([4])), np.random.default_rng(0))
    everyone = objective.gains(state, pool.take(np.arange(9)))
    for some in ([7], [8, 2], [0, 1, 2, 3, 5]):
        np.testing.assert_allclose(objective.gains(state, pool.take(np.array(some))), everyone[some], atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 4, 9, 1000])
@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_shards_of_any_size_give_the_same_batch(row: ObjectiveRow, maximiser: Any, size: int) -> None:
    indices, gains = chosen(from_probs(POOL).with_shards_of(size), row, maximiser)
    wanted, wanted_gains = chosen(POOL, row, maximiser)
    assert indices == wanted
    assert gains == pytest.approx(wanted_gains, abs=1e-12)


@pytest.mark.parametrize("numbers", [1, 13, 24, 25, 100])
@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_blocks_of_any_size_give_the_same_batch(
    row: ObjectiveRow, numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, wanted_gains = chosen(POOL, row, Greedy())
    monkeypatch.setattr(_arrays, "HOST_BLOCK", numbers)
    indices, gains = chosen(POOL, row, Greedy())
    assert indices == wanted
    assert gains == pytest.approx(wanted_gains, abs=1e-12)


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_the_seed_alone_decides(row: ObjectiveRow, maximiser: Any) -> None:
    wanted = chosen(POOL, row, maximiser)
    np.random.seed(12345)  # noqa: NPY002
    state = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert chosen(POOL, row, maximiser) == wanted
    assert np.random.get_state()[1].tolist() == state  # noqa: NPY002
