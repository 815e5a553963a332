"""The contracts of objectives on pools that hold no class probabilities."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from infoacq import LazyGreedy, objectives, select_batch
from infoacq.objective import is_submodular
from tests.backends import Backend
from tests.contracts.other_pools import OTHERS, SIZE, OtherRow
from tests.contracts.table import MAXIMISERS, MaximiserRow

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
EVERY = pytest.mark.parametrize("row", OTHERS, ids=str)
PICKS = 4


def greedily(row: OtherRow, size: int, before: tuple[int, ...] = ()) -> list[int]:
    """Greedy choice by the oracle; of equal values the lowest position."""
    chosen = list(before)
    for _ in range(size):
        left = [n for n in range(SIZE) if n not in chosen]
        chosen.append(max(left, key=lambda n: (round(row.value([*chosen, n]), 7), -n)))
    return chosen[len(before) :]


@EVERY
def test_each_pick_is_the_best_and_worth_what_dense_algebra_says(row: OtherRow, maker: Backend) -> None:
    chosen = select_batch(row.pool(maker.array), row.make(maker.array), PICKS, seed=0)
    assert chosen.indices == greedily(row, PICKS)
    wanted = [row.value(chosen.indices[: i + 1]) for i in range(PICKS)]
    assert chosen.scores == pytest.approx(wanted, abs=1e-7)


@EVERY
def test_pending_equals_having_picked(row: OtherRow) -> None:
    pool, objective = row.pool(np.asarray), row.make(np.asarray)
    chosen = select_batch(pool, objective, 3, pending=[5, 0], seed=0)
    assert chosen.indices == greedily(row, 3, before=(5, 0))
    assert chosen.conditioned == pytest.approx(row.value([5, 0]), abs=1e-9)
    assert chosen.scores[-1] == pytest.approx(row.value([5, 0, *chosen.indices]) - row.value([5, 0]), abs=1e-7)


@EVERY
@pytest.mark.parametrize("maximiser", MAXIMISERS, ids=str)
def test_every_maximiser_takes_it_or_says_why_not(row: OtherRow, maximiser: MaximiserRow) -> None:
    pool, objective = row.pool(np.asarray), row.make(np.asarray)
    if not maximiser.takes(objective):
        kind = type(maximiser.maximiser).__name__
        with pytest.raises(ValueError, match=rf"{kind} needs .*{type(objective).__name__}"):
            select_batch(pool, objective, PICKS, maximiser=maximiser.maximiser, seed=0)
        return
    chosen = select_batch(pool, objective, PICKS, maximiser=maximiser.maximiser, pending=[2], seed=0)
    assert len({*chosen.indices, 2}) == PICKS + 1
    assert chosen.scores[-1] == pytest.approx(row.value([2, *chosen.indices]) - row.value([2]), abs=1e-7)
    if not maximiser.random:
        assert chosen.indices == greedily(row, PICKS, before=(2,))


@EVERY
def test_cuts_and_threads_change_nothing(row: OtherRow) -> None:
    pool, objective = row.pool(np.asarray), row.make(np.asarray)
    wanted = select_batch(pool, objective, PICKS, seed=0)
    for size in (1, 4, 100):
        cut = select_batch(pool.with_shards_of(size), objective, PICKS, seed=0)
        assert cut.indices == wanted.indices
        assert cut.gains == pytest.approx(wanted.gains, abs=1e-12)
    with ThreadPoolExecutor(3) as executor:
        assert (
            select_batch(pool.with_shards_of(2), objective, PICKS, seed=0, map=executor.map).indices == wanted.indices
        )


@EVERY
def test_states_stay_and_travel(row: OtherRow) -> None:
    pool, objective = row.pool(np.asarray), row.make(np.asarray)
    state = objective.update(objective.init(pool), pool.take(np.array([3])), np.random.default_rng(0))
    everyone = pool.take(np.arange(SIZE))
    before = np.array(objective.gains(state, everyone))
    objective.update(state, pool.take(np.array([1])), np.random.default_rng(1))
    copy, copied = pickle.loads(pickle.dumps((objective, state)))
    np.testing.assert_array_equal(copy.gains(copied, everyone), before)
    some = objective.gains(state, pool.take(np.array([7, 2])))
    np.testing.assert_allclose(some, before[[7, 2]], atol=1e-12)


@EVERY
def test_it_is_submodular_where_it_says_so(row: OtherRow) -> None:
    """On every pair of nested batches of at most two by the oracle; what says nothing has a pair that shows why."""
    worst = max(
        row.value([*larger, n]) - row.value(larger) - row.value([*smaller, n]) + row.value(smaller)
        for larger in combinations(range(SIZE), 2)
        for smaller in [(), (larger[0],), (larger[1],)]
        for n in range(SIZE)
        if n not in larger
    )
    objective = row.make(np.asarray)
    assert worst <= 1e-9 if is_submodular(objective) else worst > 1e-3
    if not is_submodular(objective):
        with pytest.raises(ValueError, match="needs a submodular objective"):
            select_batch(row.pool(np.asarray), objective, 2, maximiser=LazyGreedy())


def test_the_rows_are_all_the_objectives_of_other_pools() -> None:
    here: set[Any] = {type(row.make(np.asarray)).__name__ for row in OTHERS}
    kinds = {name: getattr(getattr(objectives, name), "outcome", "classes") for name in objectives.__all__}
    assert here == {name for name, kind in kinds.items() if kind not in ("classes", "any")}
