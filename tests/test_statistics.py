"""Estimates and their standard errors over 200 seeds, against the enumeration."""

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks import referee
from infoacq import BatchBALD, ExactJointEntropy, expected_entropy, select_batch
from infoacq.configurations import Configurations
from tests import oracles
from tests.predictions import dirichlet

pytestmark = pytest.mark.usefixtures("untyped")  # which is several times faster
SEEDS = 200
P = dirichlet(9, 7, 8, 3, concentration=0.5)


class Estimates(NamedTuple):
    """The truth, and each seed's estimate of it and reported standard error (nats)."""

    truth: float
    values: np.ndarray
    errors: np.ndarray


@cache
def of_entropy(count: int) -> Estimates:
    """H of the first six points."""
    joints = [sampled(count, seed) for seed in range(SEEDS)]
    truth = oracles.joint_entropy(P[:6].tolist())
    return Estimates(truth, np.array([j.entropy for j in joints]), np.array([j.standard_error for j in joints]))


@cache
def of_gain(count: int) -> Estimates:
    """What the seventh point adds to the information of the first six."""
    joints, seventh = [sampled(count, seed) for seed in range(SEEDS)], P[6:]
    values = [j.conditional_entropy(seventh) - expected_entropy(seventh, j.draw_weights) for j in joints]
    errors = [j.information_error(seventh) for j in joints]
    truth = oracles.batchbald(P.tolist()) - oracles.batchbald(P[:6].tolist())
    return Estimates(truth, np.concatenate(values), np.concatenate(errors))


def of_score(count: int) -> Estimates:
    """The score of a greedy batch, whichever it is, less its own worth."""
    selections = [select_batch(P, BatchBALD(max_configurations=count), 6, seed=seed) for seed in range(SEEDS)]
    worth = {tuple(s.indices): oracles.batchbald(P[s.indices].tolist()) for s in selections}
    values = [s.scores[-1] - worth[tuple(s.indices)] for s in selections]
    return Estimates(0.0, np.array(values), np.array([math.fsum(s.standard_errors) for s in selections]))


def sampled(count: int, seed: int) -> ExactJointEntropy:
    """The joint entropy of the first six points on `count` configurations, of 729."""
    rng = np.random.default_rng(seed)
    joint = ExactJointEntropy.empty(draws=8, like=P).append(P[0]).sampled(count, rng)
    for point in P[1:6]:
        joint = joint.append(point, rng)
    return joint


@pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
@pytest.mark.parametrize("count", [20, 150])
@pytest.mark.parametrize("estimated", [of_entropy, of_gain, of_score])
def test_errors_cover_the_truth_and_bias_is_small(estimated: Callable[[int], Estimates], count: int) -> None:
    truth, values, errors = estimated(count)
    off = values - truth
    # Errors are bounds, so they cover at least as often as they say, but for the binomial error of 200 seeds.
    for width, nominal in ((1.0, 0.683), (1.96, 0.95)):
        assert (np.abs(off) <= width * errors + 1e-12).mean() >= nominal - 2 * math.sqrt(
            nominal * (1 - nominal) / SEEDS
        )
    # And they say something: they are not many times too wide.
    assert errors.mean() < 4 * off.std()
    # The bias cannot be told from none (three standard errors of the mean) and is far below a reported error.
    assert abs(off.mean()) <= 3 * off.std() / math.sqrt(SEEDS)
    assert abs(off.mean()) < 0.2 * errors.mean()


def test_errors_shrink_as_configurations_are_added() -> None:
    few, many = of_gain(20), of_gain(150)
    assert many.values.std() < 0.5 * few.values.std()
    assert many.errors.mean() < 0.5 * few.errors.mean()


def test_both_terms_under_the_same_configurations_are_less_noisy_than_one_under_the_prior() -> None:
    """On configurations drawn as the paper draws them, and on the library's own."""
    joint = ExactJointEntropy.empty(draws=8, like=P)
    for point in P[:6]:
        joint = joint.append(point)
    every, seventh = joint.configurations, P[6:]
    by_prior, by_same, by_library = [], [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        drawn = rng.choice(len(every), 60, p=every.masses / every.masses.sum())
        independent = Configurations(every.posteriors[drawn], np.full(60, 1 / 60), every.like)
        kept = every.thinned(60, rng)
        entropy = independent.conditional_entropy(seventh)[0]
        by_prior.append(entropy - expected_entropy(seventh)[0])
        by_same.append(entropy - expected_entropy(seventh, independent.draw_weights)[0])
        by_library.append((kept.conditional_entropy(seventh) - expected_entropy(seventh, kept.draw_weights))[0])
    # A ratio of two variances of 200 has a standard error of a seventh.
    assert np.var(by_same) < 0.7 * np.var(by_prior)
    assert np.var(by_library) < 0.7 * np.var(by_same)


def test_the_referee_agrees_with_the_enumeration() -> None:
    for batch in ([0], [1, 2], [0, 3, 4, 6]):
        value, error = referee.information(P, batch, samples=100_000, seed=1)
        assert 0 < error < 0.01
        assert abs(value - oracles.batchbald(P[batch].tolist())) < 4 * error
