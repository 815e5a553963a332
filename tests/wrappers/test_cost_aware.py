import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, PredictiveEntropy, Random, from_probs, select_batch
from infoacq.wrappers import Budget, Constrained, CostAware, WeightedSum
from tests.oracles import batchbald
from tests.predictions import dirichlet

COST = [5.0, 1.0, 4.0, 2.0, 3.0, 1.0, 2.0, 9.0]


@pytest.mark.parametrize("maximiser", [None, Greedy(), LazyGreedy(first=1)])
def test_each_pick_is_worth_most_for_its_cost_and_gains_are_in_nats(maximiser):
    probs = dirichlet(0, 8, 5, 3, 0.5)
    chosen = select_batch(probs, CostAware(BatchBALD(), COST), 4, maximiser=maximiser)
    for i in range(4):
        before = chosen.indices[:i]

        def per_cost(j, before=before):
            return (batchbald(probs[[*before, j]].tolist()) - batchbald(probs[before].tolist())) / COST[j]

        assert chosen.indices[i] == max((j for j in range(8) if j not in before), key=per_cost)
    np.testing.assert_allclose(chosen.scores, [batchbald(probs[chosen.indices[: i + 1]].tolist()) for i in range(4)])
    assert (chosen.unit, chosen.limit) == ("nats", pytest.approx(np.log(5)))


def test_the_unit_of_the_costs_changes_nothing():
    # Ratios of 1e-9 nats and of 1e9 nats are told apart as well as those of 1: ties are relative to the costs.
    pool = from_probs(dirichlet(1, 200, 5, 3, 0.5).astype(np.float32))
    cost = np.random.default_rng(0).random(200) + 0.1
    batches = [select_batch(pool, CostAware(BatchBALD(), cost * unit), 6).indices for unit in (1.0, 1e9, 1e-9)]
    assert batches[0] == batches[1] == batches[2]


def test_equal_costs_change_nothing():
    probs, objective = dirichlet(2, 20, 5, 3, 0.5), BatchBALD(max_configurations=30)
    plain, costly = (select_batch(probs, o, 5, seed=0) for o in (objective, CostAware(objective, [3.0] * 20)))
    assert costly == plain
    assert costly.standard_errors[-1] > 0


def test_standard_errors_are_those_of_the_gains():
    probs, objective = dirichlet(3, 8, 6, 3, 0.5), BatchBALD(max_configurations=30)
    costly = select_batch(probs, CostAware(objective, COST), 5, seed=0)
    again = select_batch(probs, Constrained(objective, []), 1, pending=costly.indices[:4], seed=0)
    assert costly.standard_errors[-1] == pytest.approx(again.standard_errors[-1], rel=1.0)
    assert 0 < costly.standard_errors[-1] < 0.1


def test_pending_candidates_are_worth_their_gains_not_these_for_their_cost():
    probs = dirichlet(4, 8, 5, 3)
    chosen = select_batch(probs, CostAware(BatchBALD(), COST), 2, pending=[0, 7])
    assert chosen.conditioned == pytest.approx(batchbald(probs[[0, 7]].tolist()))
    worth = batchbald(probs[[0, 7, *chosen.indices]].tolist()) - chosen.conditioned
    assert chosen.scores[-1] == pytest.approx(worth)


def test_under_a_budget_the_cheap_come_first():
    probs = np.repeat(dirichlet(5, 1, 4, 3), 8, axis=0)
    chosen = select_batch(probs, Constrained(CostAware(BatchBALD(), COST), [Budget(COST, 6.0)]), 8)
    assert chosen.indices == [1, 5, 3, 6]
    np.testing.assert_allclose(chosen.scores[-1], batchbald(probs[:4].tolist()))


def test_what_it_says_of_itself():
    assert CostAware(BALD(), COST).modular
    assert CostAware(BatchBALD(), COST).submodular
    assert not CostAware(BatchBALD(), COST).modular
    probs = dirichlet(6, 8, 4, 3)
    by_entropy = select_batch(probs, CostAware(WeightedSum((PredictiveEntropy(), BALD()), (1.0, 1.0)), COST), 8)
    assert by_entropy.evaluations == 8
    assert by_entropy.limit is None
    batches = [select_batch(probs, CostAware(Random(), COST), 5, seed=s).indices for s in (0, 0, 1)]
    assert batches[0] == batches[1] != batches[2]


def test_bad_costs_are_refused():
    with pytest.raises(ValueError, match=r"candidate 0 costs -1. Give free ones a small cost"):
        CostAware(BALD(), [-1.0])
    with pytest.raises(ValueError, match="there is none"):
        CostAware(BALD(), [])
    with pytest.raises(ValueError, match="one entry for each of the 3 candidates of the pool; got 8"):
        select_batch(dirichlet(7, 3, 2, 2), CostAware(BALD(), COST), 1)
