import math
import pickle

import numpy as np
import pytest

from infoacq import Greedy, LazyGreedy, TopK, from_probs, select_batch
from infoacq.objectives import Scores, SetFunction
from tests.predictions import dirichlet


def margin(candidates):
    """Minus the difference of the two largest mean probabilities."""
    top = np.sort(candidates.predictions.mean(axis=1), axis=-1)
    return top[:, -2] - top[:, -1]


def test_a_score_of_predictions():
    probs = dirichlet(0, 20, 4, 3)
    chosen = select_batch(from_probs(probs).with_shards_of(3), Scores(margin, unit="probability"), 5)
    top = np.sort(probs.mean(axis=1), axis=-1)
    assert chosen.indices == np.argsort(top[:, -1] - top[:, -2], kind="stable")[:5].tolist()
    assert chosen.unit == "probability"
    assert chosen.evaluations == 20


KNOWN = [3, 1, 4, 1, 5, 9]


def assert_known(score):
    chosen = select_batch(dirichlet(1, 6, 2, 2), Scores(score), 3)
    assert chosen.indices == [5, 4, 2]
    assert chosen.gains == [9.0, 5.0, 4.0]


def test_scores_known_before_whatever_their_type():
    assert_known(lambda candidates: [KNOWN[i] for i in candidates.index])
    assert_known(lambda candidates: np.array(KNOWN)[candidates.index])


def test_scores_known_before_in_tensors():
    torch = pytest.importorskip("torch")
    assert_known(lambda candidates: torch.tensor(KNOWN)[candidates.index])
    assert_known(lambda candidates: torch.tensor(KNOWN, dtype=torch.float32)[candidates.index])


def test_pending_scores_are_passed_over():
    objective = Scores(lambda candidates: -candidates.index)
    chosen = select_batch(dirichlet(2, 6, 2, 2), objective, 2, pending=[0, 2])
    assert chosen.indices == [1, 3]
    assert chosen.conditioned == -2.0


def test_a_score_that_is_no_number_is_named(untyped):
    with pytest.raises(ValueError, match=r"Scores\.gains returned nan for candidate 1"):
        select_batch(dirichlet(3, 3, 2, 2), Scores(lambda candidates: [0.0, math.nan, 1.0]), 1)
    with pytest.raises(ValueError, match="one gain a candidate"):
        select_batch(dirichlet(3, 3, 2, 2), Scores(lambda candidates: [0.0]), 1)


def test_what_cannot_be_called_is_refused_at_once(untyped):
    with pytest.raises(TypeError, match="score must be something to call"):
        Scores(np.arange(3))
    with pytest.raises(TypeError, match="function must be something to call"):
        SetFunction([1.0, 2.0])


COVERS = [{0, 1, 2}, {2, 3}, {3, 4, 5, 6}, {0, 1, 2, 3}, {6}]


def covered(batch):
    """How many things the batch covers."""
    return len(set().union(*(COVERS[i] for i in batch)))


def test_a_set_function_is_worth_its_own_value():
    pool = dirichlet(4, 5, 2, 2)
    chosen = select_batch(pool, SetFunction(covered, unit="things"), 3)
    assert chosen.indices == [2, 0, 1]
    assert chosen.scores == [4.0, 7.0, 7.0]
    assert chosen.unit == "things"


def test_a_set_function_is_lazy_only_if_it_says_that_it_is_submodular():
    pool = dirichlet(4, 5, 2, 2)
    with pytest.raises(ValueError, match="SetFunction does not say that it is one"):
        select_batch(pool, SetFunction(covered), 2, maximiser=LazyGreedy())
    with pytest.raises(ValueError, match="TopK needs a modular objective"):
        select_batch(pool, SetFunction(covered, submodular=True), 2, maximiser=TopK())
    lazy = select_batch(pool, SetFunction(covered, submodular=True), 4)
    assert lazy.indices == select_batch(pool, SetFunction(covered), 4, maximiser=Greedy()).indices


def test_a_value_of_the_empty_set_is_no_gain():
    chosen = select_batch(dirichlet(4, 5, 2, 2), SetFunction(lambda batch: 10.0 + len(batch)), 2)
    assert chosen.gains == [1.0, 1.0]


def test_the_function_sees_positions_in_the_order_of_choice():
    seen = []
    order = [3, 1, 0]
    select_batch(dirichlet(4, 4, 2, 2), SetFunction(lambda b: seen.append(b) or sum(b[:1])), 2, pending=order[:2])
    assert (3, 1, 0) in seen
    assert all(batch[:2] == (3, 1) for batch in seen if len(batch) == 3)


def test_both_pickle_with_a_function_of_a_module():
    assert pickle.loads(pickle.dumps(Scores(margin))) == Scores(margin)
    assert pickle.loads(pickle.dumps(SetFunction(covered))) == SetFunction(covered)


@pytest.mark.parametrize("kind", [np.int64, np.int8, bool, np.float16, list], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("maximiser", [None, Greedy()], ids=["default", "greedy"])
def test_an_objective_may_give_gains_of_any_kind_of_number(kind, maximiser):
    class Counts:
        outcome = "any"

        def init(self, pool):
            return None

        def gains(self, state, candidates):
            counts = (candidates.index % 4 == 3).astype(np.int64)
            return counts.tolist() if kind is list else counts.astype(kind)

        def standard_errors(self, state, candidates):
            return np.zeros(len(candidates), dtype=np.int64)

        def update(self, state, chosen, rng):
            return None

    chosen = select_batch(dirichlet(9, 12, 4, 3), Counts(), 4, maximiser=maximiser)
    assert chosen.indices == [3, 7, 11, 0]
    assert chosen.gains == [1.0, 1.0, 1.0, 0.0]
