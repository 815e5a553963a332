"""Labelled, held out and pool: nothing lost, nothing twice, and positions that lead back to the data set."""

import json
import pickle
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoacq import BALD, PoolSplit, select_batch
from tests.predictions import dirichlet


def parts(split: PoolSplit) -> list[list[int]]:
    return [split.pool.tolist(), split.labelled.tolist(), split.held_out.tolist()]


def test_a_split_divides_the_data_set() -> None:
    split = PoolSplit.start(8, labelled=[5, 2], held_out=[7])
    assert parts(split) == [[0, 1, 3, 4, 6], [5, 2], [7]]
    assert parts(PoolSplit.start(3)) == [[0, 1, 2], [], []]


def test_positions_stand_for_the_indices_of_the_points_that_are_left() -> None:
    split = PoolSplit.start(8, labelled=[5, 2], held_out=[7])
    assert split.indices([4, 0]).tolist() == [6, 0]
    after = split.acquire([4, 0])
    assert parts(after) == [[1, 3, 4], [5, 2, 6, 0], [7]]
    # The same positions mean other points now.
    assert after.indices([2, 0]).tolist() == [4, 1]
    assert parts(split) == [[0, 1, 3, 4, 6], [5, 2], [7]], "the old split stays"


@st.composite
def histories(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[list[int]]]:
    size = draw(st.integers(1, 30))
    order = draw(st.permutations(range(size)))
    labelled, held_out = draw(st.integers(0, size)), draw(st.integers(0, 5))
    rounds, left = [], size - labelled - len(order[labelled : labelled + held_out])
    while left and draw(st.booleans()):
        batch = draw(st.lists(st.integers(0, left - 1), unique=True, min_size=1, max_size=min(left, 4)))
        rounds.append(batch)
        left -= len(batch)
    return size, order[:labelled], order[labelled : labelled + held_out], rounds


@given(histories())
def test_any_history_is_that_of_a_list_from_which_points_are_taken(history: tuple) -> None:
    size, labelled, held_out, rounds = history
    split = PoolSplit.start(size, labelled=labelled, held_out=held_out)
    left = [i for i in range(size) if i not in labelled and i not in held_out]
    done = list(labelled)
    for positions in rounds:
        split = split.acquire(positions)
        taken = [left[p] for p in positions]
        done += taken
        left = [i for i in left if i not in taken]
        assert parts(split) == [left, done, list(held_out)]
    again = PoolSplit.from_json(json.loads(json.dumps(split.to_json())))
    assert again == split
    assert parts(again) == parts(split)
    assert pickle.loads(pickle.dumps(split)) == split


def test_splits_compare_by_value() -> None:
    split = PoolSplit.start(8, labelled=[5, 2])
    assert split == PoolSplit.start(8, labelled=[5, 2])
    for other in (PoolSplit.start(8, labelled=[2, 5]), PoolSplit.start(9, labelled=[5, 2]), split.acquire([0]), 8):
        assert split != other


def test_a_split_does_not_share_the_callers_arrays() -> None:
    labelled = np.array([5, 2])
    split = PoolSplit.start(8, labelled=labelled)
    labelled[0] = 7
    assert split.labelled.tolist() == [5, 2]


@pytest.mark.parametrize(
    ("positions", "error", "message"),
    [
        ([0, 1, 0], ValueError, r"positions must not come twice; got \[0\] more than once"),
        ([-1], ValueError, r"positions must lie in 0 … 4, as the pool has 5; got \[-1\]"),
        ([2, 5], ValueError, r"positions must lie in 0 … 4, as the pool has 5; got \[5\]"),
        ([0.0], TypeError, r"positions must be whole numbers; got float64"),
        ([True, False, False, False, True], TypeError, r"positions must be whole numbers; got bool"),
        ([[0], [1]], TypeError, r"positions must be whole numbers; got int64 of shape \(2, 1\)"),
        (["0"], TypeError, "positions must be whole numbers"),
    ],
)
@pytest.mark.usefixtures("untyped")
def test_wrong_positions_are_refused(positions: Any, error: type[Exception], message: str) -> None:
    split = PoolSplit.start(8, labelled=[5, 2], held_out=[7])
    for call in (split.acquire, split.indices):
        with pytest.raises(error, match=message):
            call(positions)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labelled": [8]}, r"labelled must lie in 0 … 7, as the data set has 8; got \[8\]"),
        ({"labelled": [1, 1]}, "labelled must not come twice"),
        ({"held_out": [-1]}, r"held_out must lie in 0 … 7"),
        ({"labelled": [3, 1], "held_out": [1]}, r"labelled and held_out must not share indices; both hold \[1\]"),
    ],
)
def test_wrong_indices_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PoolSplit.start(8, **options)
    with pytest.raises(ValueError, match=message):
        PoolSplit.from_json({"size": 8, "labelled": [], "held_out": []} | options)
    with pytest.raises(KeyError, match="held_out"):
        PoolSplit.from_json({"size": 8, "labelled": []})
    with pytest.raises(ValueError, match="size must be at least 1; got 0"):
        PoolSplit.start(0)


def test_a_subsampled_pool_maps_back() -> None:
    """Select among some of the pool's predictions, and label those very points."""
    predictions = dirichlet(1, 40, 5, 3)  # of the whole data set
    split = PoolSplit.start(40, labelled=[3, 11], held_out=range(20, 30))
    some = split.subsample(9, seed=2)
    assert len(set(some.tolist())) == 9
    assert some.tolist() == sorted(some.tolist())
    selection = select_batch(predictions[split.indices(some)], BALD(), 4)
    after = split.acquire(some[selection.indices])
    acquired = after.labelled[2:]
    np.testing.assert_array_equal(acquired, split.pool[some[selection.indices]])
    assert not set(acquired.tolist()) & {3, 11, *range(20, 30)}
    wanted = select_batch(predictions[acquired], BALD(), 4)
    assert wanted.gains == pytest.approx(selection.gains), "the points that were scored are those that were labelled"


def test_splits_depend_on_their_seed_alone() -> None:
    targets = np.arange(60) % 3
    made = []
    for global_seed in (1, 2):
        np.random.seed(global_seed)  # noqa: NPY002
        split = PoolSplit.balanced(targets, labelled_per_class=2, held_out=7, seed=5)
        made.append((split, split.subsample(10, seed=6).tolist()))
    assert made[0] == made[1]
    assert split != PoolSplit.balanced(targets, labelled_per_class=2, held_out=7, seed=6)
    assert np.bincount(targets[split.labelled]).tolist() == [2, 2, 2]
    assert len(split.held_out) == 7
    assert sorted(chain(*parts(split))) == list(range(60))


@pytest.mark.usefixtures("untyped")
def test_what_cannot_be_had_is_an_error_that_says_how_much_there_is() -> None:
    with pytest.raises(ValueError, match=r"labelled_per_class must be at most 2, .*the smallest class; got 3"):
        PoolSplit.balanced([0, 0, 1, 1, 1], labelled_per_class=3, seed=0)
    with pytest.raises(ValueError, match=r"held_out must be at most 1, .*what the labelled points leave; got 2"):
        PoolSplit.balanced([0, 0, 1, 1, 1], labelled_per_class=2, held_out=2, seed=0)
    with pytest.raises(ValueError, match="the number of targets must be at least 1; got 0"):
        PoolSplit.balanced([], labelled_per_class=1, seed=0)
    with pytest.raises(ValueError, match="size must be at most 3, the number of points in the pool; got 4"):
        PoolSplit.start(5, labelled=[0, 1]).subsample(4, seed=0)
    with pytest.raises(ValueError, match="seed must be at least 0; got -1"):
        PoolSplit.start(5).subsample(4, seed=-1)
