import math
from itertools import combinations

import numpy as np
import pytest

from infoacq import BatchBALD, Greedy, select_batch
from infoacq.maximisers import BudgetedGreedy
from infoacq.objectives import EPIG, SetFunction
from infoacq.wrappers import Budget, Constrained, CostAware
from tests.oracles import batchbald
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


def affordable(cost, budget):
    return [
        b
        for size in range(1, len(cost) + 1)
        for b in combinations(range(len(cost)), size)
        if sum(cost[i] for i in b) <= budget
    ]


@pytest.mark.parametrize("seed", range(6))
def test_worth_at_least_half_of_1_less_1_over_e_of_the_best_batch_within_the_budget(seed):
    probs, cost = dirichlet(seed, 7, 6, 2, 0.3), np.random.default_rng(seed).uniform(0.2, 3.0, 7)
    chosen = select_batch(probs, BatchBALD(), 7, maximiser=BudgetedGreedy(cost, 4.0))
    best = max(batchbald(probs[list(batch)].tolist()) for batch in affordable(cost, 4.0))
    assert (1 - 1 / math.e) / 2 * best <= chosen.scores[-1] <= best + 1e-9
    assert cost[chosen.indices].sum() <= 4.0
    assert chosen.scores[-1] == pytest.approx(batchbald(probs[chosen.indices].tolist()))


# One candidate is worth nearly nothing and costs less still; the other takes the whole budget and is worth it.
TRAP = SetFunction(lambda batch: sum([0.02, 10.0, 0.01][i] for i in batch), submodular=True)
PRICES = [0.01, 10.0, 5.0]


def test_each_of_the_two_can_be_bad_alone_and_the_better_is_kept():
    pool = dirichlet(0, 3, 2, 2)
    within = [Budget(PRICES, 10.0)]
    by_cost = select_batch(pool, Constrained(CostAware(TRAP, PRICES), within), 3)
    assert by_cost.scores[-1] == pytest.approx(0.03)
    assert select_batch(pool, TRAP, 3, maximiser=BudgetedGreedy(PRICES, 10.0)).indices == [1]
    # And the other way about: many cheap ones are worth more than the first of the plain greedy.
    many = SetFunction(lambda batch: sum([3.0, 2.0, 2.0, 2.0][i] for i in batch), submodular=True)
    cost = [3.0, 1.0, 1.0, 1.0]
    assert select_batch(dirichlet(0, 4, 2, 2), Constrained(many, [Budget(cost, 3.0)]), 4).indices == [0]
    assert select_batch(dirichlet(0, 4, 2, 2), many, 4, maximiser=BudgetedGreedy(cost, 3.0)).indices == [1, 2, 3]


def test_at_most_batch_size_are_chosen():
    cost = [1.0] * 6
    assert len(select_batch(dirichlet(1, 6, 4, 3), BatchBALD(), 2, maximiser=BudgetedGreedy(cost, 6.0))) == 2


def test_sampled_scores_of_both_come_from_the_same_random_numbers():
    probs = dirichlet(2, 12, 6, 3, 0.5)
    maximiser, objective = BudgetedGreedy([1.0] * 12, 6.0), BatchBALD(max_configurations=30)
    chosen = select_batch(probs, objective, 12, maximiser=maximiser, seed=3)
    assert chosen.indices == select_batch(probs, objective, 6, seed=3).indices
    assert chosen.evaluations > select_batch(probs, objective, 6, seed=3).evaluations


def test_pending_candidates_are_conditioned_on_and_not_paid():
    probs = dirichlet(3, 6, 5, 3)
    chosen = select_batch(probs, BatchBALD(), 4, pending=[0, 1], maximiser=BudgetedGreedy([1.0] * 6, 2.0))
    assert len(chosen) == 2
    worth = batchbald(probs[[0, 1, *chosen.indices]].tolist()) - batchbald(probs[[0, 1]].tolist())
    assert chosen.scores[-1] == pytest.approx(worth)


def test_the_better_one_is_that_of_the_larger_value_also_where_another_measure_ranks():
    # By worth for hours the first comes first, by that for its price the second: worth 2 and worth 13.
    worth = SetFunction(lambda batch: sum([2.0, 13.0][i] for i in batch), submodular=True)
    per_hour = CostAware(worth, [1.0, 10.0])
    chosen = select_batch(dirichlet(6, 2, 2, 2), per_hour, 2, maximiser=BudgetedGreedy([2.0, 1.2], 2.0))
    assert chosen.indices == [1]
    assert chosen.scores == [pytest.approx(13.0)]


def test_an_objective_that_is_not_submodular_needs_greedy():
    objective = EPIG(dirichlet(4, 2, 5, 2))
    with pytest.raises(ValueError, match="LazyGreedy needs a submodular objective"):
        select_batch(dirichlet(5, 6, 5, 3), objective, 2, maximiser=BudgetedGreedy([1.0] * 6, 2.0))
    plain = BudgetedGreedy([1.0] * 6, 2.0, maximiser=Greedy())
    assert len(select_batch(dirichlet(5, 6, 5, 3), objective, 6, maximiser=plain)) == 2


def test_bad_arguments_are_refused_at_once(untyped):
    with pytest.raises(ValueError, match="budget must be a finite number above 0"):
        BudgetedGreedy([1.0], -1.0)
    with pytest.raises(ValueError, match="cost must be above 0"):
        BudgetedGreedy([0.0], 1.0)
    with pytest.raises(TypeError, match=r"Write Greedy\(\)"):
        BudgetedGreedy([1.0], 1.0, maximiser=Greedy)
