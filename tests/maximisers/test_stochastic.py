import itertools
import math
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, from_probs, select_batch
from infoacq.maximisers import PowerSampling, SoftmaxSampling, SoftRankSampling
from infoacq.maximisers.stochastic import ranks
from tests.oracles import bald, batchbald
from tests.predictions import dirichlet

POOL = from_probs(np.full((5, 1, 2), 0.5))


@dataclass(frozen=True)
class Given:
    """Gains that are given."""

    values: tuple[float, ...]
    modular: ClassVar[bool] = True

    def init(self, pool):
        return None

    def gains(self, state, candidates):
        return np.array(self.values)[candidates.index]

    def update(self, state, chosen, rng):
        return None


def probabilities(weights, size):
    """Of every ordered batch, by drawing without replacement in proportion to the weights."""
    table = {}
    for batch in itertools.permutations(range(len(weights)), size):
        left, p = sum(weights), 1.0
        for i in batch:
            p, left = p * weights[i] / left, left - weights[i]
        table[batch] = p
    return table


GAINS = (0.9, 0.4, 0.4, 0.1, 0.05)
WEIGHTS = [
    (PowerSampling(1.5), [g**1.5 for g in GAINS]),
    (SoftmaxSampling(3.0), [math.exp(3.0 * g) for g in GAINS]),
    (SoftRankSampling(2.0), [r**-2.0 for r in (1, 2.5, 2.5, 4, 5)]),
]


@pytest.mark.parametrize(("maximiser", "weights"), WEIGHTS, ids=lambda x: type(x).__name__)
def test_batches_come_as_often_as_drawing_in_turn_says(maximiser, weights):
    runs, objective = 600, Given(GAINS)
    rngs = np.random.default_rng(0).spawn(runs)
    found = Counter(tuple(maximiser(objective, POOL, 2, [rng, rng]).indices) for rng in rngs)
    for batch, p in probabilities(weights, 2).items():
        # 20 batches are compared: beyond 4 standard errors by chance once in 800 such tests.
        assert abs(found[batch] / runs - p) < 4 * math.sqrt(p * (1 - p) / runs) + 1 / runs


def test_candidates_worth_nothing_come_last_in_random_order():
    batches = [
        select_batch(POOL, Given((0.0, 0.5, -1e-17, 0.0, 0.1)), 5, maximiser=PowerSampling(), seed=s).indices
        for s in range(40)
    ]
    assert {frozenset(batch[:2]) for batch in batches} == {frozenset({1, 4})}
    assert {tuple(batch[2:]) for batch in batches} == set(itertools.permutations([0, 2, 3]))


def test_all_gains_zero_is_a_random_batch():
    firsts = {select_batch(POOL, Given((0.0,) * 5), 2, maximiser=PowerSampling(), seed=s).indices[0] for s in range(60)}
    assert firsts == {0, 1, 2, 3, 4}


def test_negative_gains_are_refused_by_power_and_taken_by_the_others():
    objective = Given((0.1, -0.2, 0.3, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"Given gave candidate 1 -0\.2"):
        select_batch(POOL, objective, 2, maximiser=PowerSampling())
    for maximiser in (SoftmaxSampling(), SoftRankSampling()):
        assert sorted(select_batch(POOL, objective, 5, maximiser=maximiser, seed=0).indices) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("maximiser", [PowerSampling(), SoftmaxSampling(), SoftRankSampling()])
def test_what_is_ruled_out_is_never_drawn(maximiser):
    objective = Given((0.1, -math.inf, 0.3, -math.inf, 0.0))
    for seed in range(20):
        assert sorted(select_batch(POOL, objective, 5, maximiser=maximiser, seed=seed).indices) == [0, 2, 4]


@pytest.mark.parametrize("kind", [PowerSampling, SoftmaxSampling, SoftRankSampling])
def test_the_colder_the_nearer_to_the_best(kind):
    probs = dirichlet(0, 30, 5, 3, 0.5)
    assert select_batch(probs, BALD(), 4, maximiser=kind(1e6), seed=0).indices == select_batch(probs, BALD(), 4).indices


@pytest.mark.parametrize("maximiser", [PowerSampling(), SoftmaxSampling(), SoftRankSampling()])
def test_the_seed_alone_decides(maximiser):
    pool = from_probs(dirichlet(1, 50, 5, 3, 0.5))
    once = select_batch(pool, BALD(), 6, maximiser=maximiser, seed=7)
    np.random.seed(3)  # noqa: NPY002  the global state is not read
    assert select_batch(pool.with_shards_of(7), BALD(), 6, maximiser=maximiser, seed=7).indices == once.indices
    assert select_batch(pool, BALD(), 6, maximiser=maximiser, seed=8).indices != once.indices


def test_gains_are_what_each_pick_added_to_those_before_it():
    probs = dirichlet(2, 20, 5, 3, 0.5)
    single = select_batch(probs, BALD(), 3, maximiser=PowerSampling(), seed=0)
    np.testing.assert_allclose(single.gains, [bald(probs[i]) for i in single.indices])
    joint = select_batch(probs, BatchBALD(), 3, maximiser=PowerSampling(), seed=0)
    assert joint.indices == single.indices
    np.testing.assert_allclose(joint.scores, [batchbald(probs[joint.indices[: i + 1]].tolist()) for i in range(3)])


def test_pending_points_are_conditioned_on_and_not_drawn():
    probs = dirichlet(3, 6, 5, 3, 0.5)
    drawn = select_batch(probs, BatchBALD(), 4, maximiser=SoftRankSampling(), pending=[5, 0], seed=0)
    assert sorted(drawn.indices) == [1, 2, 3, 4]
    worth = batchbald(probs[[5, 0, *drawn.indices]].tolist()) - batchbald(probs[[5, 0]].tolist())
    assert drawn.scores[-1] == pytest.approx(worth)


def test_equal_gains_share_the_mean_rank():
    np.testing.assert_array_equal(ranks(np.array([0.2, 0.5, 0.2, 0.1])), [2.5, 1, 2.5, 4])


@pytest.mark.parametrize("kind", [PowerSampling, SoftmaxSampling, SoftRankSampling])
def test_coldness_is_a_number_above_zero(kind, untyped):
    with pytest.raises(ValueError, match="coldness must be a finite number above 0; got 0"):
        kind(0)
    with pytest.raises(TypeError, match="coldness must be a number; got 'cold'"):
        kind("cold")


def test_one_pass_over_the_pool():
    probs = dirichlet(4, 100, 5, 3)
    assert select_batch(probs, BatchBALD(), 5, maximiser=PowerSampling(), seed=0).evaluations == 105
    assert select_batch(probs, BatchBALD(), 5, maximiser=Greedy(), seed=0).evaluations == 500
