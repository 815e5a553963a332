"""Racing: the lazy batch, from far less; how often it drops the best is what it says."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, ExactJointEntropy, LazyGreedy, from_probs, select_batch
from infoacq.maximisers import RacingGreedy
from infoacq.objectives import JointPredictiveEntropy
from infoacq.pool import ArrayPool
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@cache
def pool() -> ArrayPool:
    return from_probs(dirichlet(5, 600, 40, 4, 0.3))


@pytest.mark.parametrize("seed", range(3))
def test_the_batch_is_that_of_lazy_evaluation(seed: int) -> None:
    lazy = select_batch(pool(), BatchBALD(1_000), 8, maximiser=LazyGreedy(), seed=seed)
    raced = select_batch(pool(), BatchBALD(1_000), 8, maximiser=RacingGreedy(), seed=seed)
    assert raced.indices == lazy.indices
    assert raced.gains == pytest.approx(lazy.gains, abs=1e-12)


def test_it_is_what_select_batch_does_unasked() -> None:
    chosen = select_batch(pool(), BatchBALD(), 6, seed=0)
    assert chosen == select_batch(pool(), BatchBALD(), 6, maximiser=RacingGreedy(), seed=0)


def test_it_races_under_pending_candidates_too() -> None:
    first = select_batch(pool(), BatchBALD(1_000), 3, seed=1).indices
    rest = select_batch(pool(), BatchBALD(1_000), 4, pending=first, seed=1)
    assert first + rest.indices == select_batch(pool(), BatchBALD(1_000), 7, seed=1).indices


@pytest.mark.parametrize("z", [1.0, 2.0])
def test_the_best_is_dropped_no_more_often_than_said(z: float) -> None:
    """One step, against the strongest reference there is: the runner-up, worth nearly as much as the best."""
    objective, probs = BatchBALD(), pool().predictions
    joint = ExactJointEntropy.empty(draws=40, like=probs)
    for i in select_batch(pool(), BatchBALD(5_000), 5, maximiser=LazyGreedy(), seed=0).indices:
        joint = joint.append(probs[i])
    gains = objective.gains(joint, pool().take(np.arange(600)))
    best, second = np.argsort(-gains)[:2]
    dropped, seeds = 0, 400
    for seed in range(seeds):
        sketch = objective.sketch(joint, 64, np.random.default_rng(seed))
        one, other = pool().take(np.array([best])), pool().take(np.array([second]))
        difference, error = objective.differences(sketch, one, other)
        dropped += bool(difference[0] + z * error[0] < 0)
    allowed = NormalDist().cdf(-z)
    assert dropped / seeds <= allowed + 3 * math.sqrt(allowed * (1 - allowed) / seeds)


def test_differences_are_unbiased_and_their_errors_cover() -> None:
    objective, probs = BatchBALD(), pool().predictions
    joint = ExactJointEntropy.empty(draws=40, like=probs)
    for i in (3, 50, 7, 123):
        joint = joint.append(probs[i])
    some, reference = pool().take(np.arange(40, 60)), pool().take(np.array([0]))
    gains = objective.gains(joint, some) - objective.gains(joint, reference)
    drawn = [
        objective.differences(objective.sketch(joint, 64, np.random.default_rng(seed)), some, reference)
        for seed in range(200)
    ]
    errors = np.array([difference for difference, _ in drawn]) - gains
    said = np.sqrt(np.mean([error**2 for _, error in drawn], axis=0))
    assert (np.abs(errors.mean(axis=0)) <= 4 * errors.std(axis=0) / math.sqrt(200)).all()
    assert (errors.std(axis=0) <= 1.25 * said).all()
    assert (errors.std(axis=0) >= 0.2 * said).all(), "an error that is far too large would drop nobody"


def test_a_sketch_of_few_configurations_is_the_state_itself() -> None:
    joint = BatchBALD().init(pool())
    assert BatchBALD().sketch(joint, 64, np.random.default_rng(0)) is joint


@pytest.mark.parametrize("objective", [JointPredictiveEntropy(), BALD()])
def test_an_objective_that_cannot_race_is_refused_with_the_way_out(objective: object) -> None:
    with pytest.raises(ValueError, match=r"RacingGreedy needs an objective with sketch and differences.*LazyGreedy"):
        select_batch(pool(), objective, 2, maximiser=RacingGreedy())


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="z must be"):
        RacingGreedy(z=0.0)
    with pytest.raises(ValueError, match="sizes must be at least 2"):
        RacingGreedy(sizes=(1,))
    with pytest.raises(ValueError, match="negligible must be"):
        RacingGreedy(negligible=-0.1)


def test_where_little_is_left_to_gain_no_more_than_that_is_lost() -> None:
    # Twenty draws are told apart by a few of these candidates: from then on no pick gains much.
    probs = dirichlet(8, 500, 20, 10, 0.05)
    whole = select_batch(probs, BatchBALD(2_000), 12, maximiser=RacingGreedy(negligible=0.0), seed=0)
    short = select_batch(probs, BatchBALD(2_000), 12, maximiser=RacingGreedy(negligible=0.01), seed=0)
    assert short.evaluations < 0.7 * whole.evaluations
    assert len(set(short.indices)) == 12
    few = next(i for i, score in enumerate(short.scores) if score > 0.99 * math.log(20))
    assert short.indices[: few + 1] == whole.indices[: few + 1], "nothing is cut short before"
    assert short.scores[-1] >= whole.scores[-1] - 0.01 * math.log(20)
