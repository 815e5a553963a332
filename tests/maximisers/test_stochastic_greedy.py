"""Stochastic greedy: its guarantee on average, how much it evaluates, and what it refuses."""

import math

import numpy as np
import pytest

from infoacq import BatchBALD, select_batch
from infoacq.maximisers import StochasticGreedy
from infoacq.objectives import SetFunction
from infoacq.wrappers import AtMostPerGroup, Constrained
from tests.oracles import batchbald, best_batch
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_on_average_at_least_one_minus_one_over_e_less_epsilon_of_the_best_batch(epsilon: float) -> None:
    probs = dirichlet(3, 10, 6, 2, 0.3)
    maximiser = StochasticGreedy(epsilon)
    worth = [select_batch(probs, BatchBALD(), 3, maximiser=maximiser, seed=seed).scores[-1] for seed in range(200)]
    error = np.std(worth) / math.sqrt(len(worth))
    assert np.mean(worth) - 3 * error >= (1 - 1 / math.e - epsilon) * best_batch(probs.tolist(), 3)
    assert len({round(value, 9) for value in worth}) > 1, "another seed looks at other candidates"


def test_gains_are_those_of_the_batch_and_evaluations_those_of_the_theorem() -> None:
    probs = dirichlet(4, 40, 5, 2, 0.5)
    chosen = select_batch(probs, BatchBALD(), 4, maximiser=StochasticGreedy(0.2), seed=1)
    assert chosen.scores == pytest.approx([batchbald(probs[chosen.indices[: i + 1]].tolist()) for i in range(4)])
    assert chosen.evaluations == 4 * math.ceil(40 / 4 * math.log(5))
    assert len(set(chosen.indices)) == 4


def test_with_nothing_left_out_it_is_greedy() -> None:
    worth = np.random.default_rng(0).permutation(12)
    objective = SetFunction(lambda batch: float(sum(worth[i] for i in batch)), submodular=True)
    chosen = select_batch(dirichlet(0, 12, 2, 2), objective, 3, maximiser=StochasticGreedy(1e-9), seed=0)
    assert chosen.indices == np.argsort(-worth)[:3].tolist()


def test_looks_on_where_all_that_it_looked_at_is_ruled_out() -> None:
    groups = [0] * 30 + [1]
    objective = Constrained(BatchBALD(), [AtMostPerGroup(groups, 1)])
    chosen = select_batch(dirichlet(1, 31, 4, 2), objective, 5, maximiser=StochasticGreedy(0.9), seed=2)
    assert sorted(groups[i] for i in chosen.indices) == [0, 1]


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0, math.nan])
def test_epsilon_outside_of_zero_to_one_is_refused(epsilon: float) -> None:
    with pytest.raises(ValueError, match="epsilon must be a finite number"):
        StochasticGreedy(epsilon)
