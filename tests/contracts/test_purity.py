"""States are never changed, and everything that travels to a worker survives pickling."""

import pickle
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from infoacq import Greedy, from_probs, select_batch
from tests.backends import Backend, numpy
from tests.contracts.table import OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import STANDARD, dirichlet, dyadic


def snapshot(x: Any) -> Any:
    """A deep copy of what `x` holds, in lists."""
    if is_dataclass(x):
        return {field.name: snapshot(getattr(x, field.name)) for field in fields(x)}
    return numpy(x).tolist() if hasattr(x, "dtype") else repr(x)


@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_gains_and_updates_leave_the_state_as_it_was(row: ObjectiveRow) -> None:
    objective, pool = row.objective, from_probs(dirichlet(51, *STANDARD))
    states = [objective.init(pool)]
    for i in range(4):
        chosen = pool.take(np.array([i]))
        before = snapshot(states[-1])
        once = objective.update(states[-1], chosen, np.random.default_rng(i))
        objective.gains(states[-1], pool.take(np.arange(6)))
        again = objective.update(states[-1], chosen, np.random.default_rng(i))
        assert snapshot(states[-1]) == before
        assert snapshot(once) == snapshot(again), "the same update twice differs"
        states.append(once)


@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_objectives_and_states_pickle(maker: Backend, row: ObjectiveRow) -> None:
    pool = from_probs(maker.array(dyadic(52, *STANDARD)))
    objective = row.make(maker.array)
    state = objective.init(pool)
    for i in range(4):
        state = objective.update(state, pool.take(np.array([i])), np.random.default_rng(i))
    candidates = pool.take(np.arange(6))
    wanted = numpy(objective.gains(state, candidates))
    copy, copied_state = pickle.loads(pickle.dumps((objective, state)))
    np.testing.assert_array_equal(numpy(copy.gains(copied_state, candidates)), wanted)


def test_shards_pickle_with_their_own_candidates_only(maker: Backend) -> None:
    p = dirichlet(53, 60, 4, 3)
    shards = from_probs(maker.array(p)).with_shards_of(10).shards()
    whole = len(pickle.dumps(maker.array(p)))
    for start, shard in zip(range(0, 60, 10), shards, strict=True):
        stored = pickle.dumps(shard)
        loaded = pickle.loads(stored).load()
        assert loaded.index.tolist() == list(range(start, start + 10))
        np.testing.assert_array_equal(numpy(loaded.predictions), p[start : start + 10])
        assert len(stored) < whole / 3, "a shard carries the whole pool"


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_selections_and_maximisers_pickle(row: ObjectiveRow, maximiser: Any) -> None:
    p = dirichlet(54, *STANDARD)
    selection = select_batch(p, row.objective, 3, maximiser=pickle.loads(pickle.dumps(maximiser)), seed=0)
    assert pickle.loads(pickle.dumps(selection)) == selection


def test_a_selection_holds_plain_numbers(xp: Backend) -> None:
    selection = select_batch(xp.array(dyadic(55, *STANDARD)), OBJECTIVES[1].objective, 3, maximiser=Greedy())
    assert {type(i) for i in selection.indices} == {int}
    for numbers in (selection.gains, selection.scores, selection.standard_errors):
        assert {type(number) for number in numbers} == {float}


@pytest.mark.parametrize("rows", [slice(None), np.array([4, 1])], ids=["a shard", "taken"])
def test_candidates_with_other_predictions_have_their_own_entropies(maker: Backend, rows: Any) -> None:
    """What an objective around another one does; entropies that the pool keeps are of the pool's predictions."""
    pool = from_probs(maker.array(dirichlet(54, 6, 4, 3)))
    candidates = pool.shards()[0].load() if isinstance(rows, slice) else pool.take(rows)
    assert numpy(candidates.draw_entropies).min() > 0.0
    certain = replace(candidates, predictions=maker.array(np.eye(3)[np.zeros((len(candidates), 4), dtype=int)]))
    np.testing.assert_array_equal(numpy(certain.draw_entropies), 0.0)
