"""Exact and sampled joint entropies against enumeration, on every backend and dtype."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

from infoacq import ExactJointEntropy, SampledJointEntropy, expected_entropy
from infoacq.configurations import Configurations
from tests import oracles
from tests.backends import Backend, numpy
from tests.predictions import STANDARD, dirichlet, dyadic, pools


def exact(batch, like) -> ExactJointEntropy:
    """The joint entropy of a batch, point by point."""
    joint = ExactJointEntropy.empty(draws=like.shape[-2], like=like)
    for point in batch:
        joint = joint.append(point)
    return joint


def test_exact_entropies_are_those_of_the_enumeration(xp: Backend) -> None:
    p = dyadic(11, *STANDARD)
    array = xp.array(p)
    joint = ExactJointEntropy.empty(draws=4, like=array)
    for size in range(4):
        assert joint.entropy == pytest.approx(oracles.joint_entropy(p[:size].tolist()), abs=1e-9)
        wanted = [oracles.conditional_entropy(p[:size].tolist(), point) for point in p.tolist()]
        np.testing.assert_allclose(numpy(joint.conditional_entropy(array)), wanted, atol=xp.tolerance)
        joint = joint.append(array[size, ...])


def test_masses_and_posteriors_are_bayes_rule_on_every_configuration() -> None:
    p = dirichlet(2, 3, 5, 2)
    joint = exact(p, p).configurations
    for m, labels in enumerate(oracles.configurations(p.tolist())):
        likelihood = np.array(oracles.likelihoods(p.tolist(), labels))
        assert joint.masses[m] == pytest.approx(likelihood.mean(), abs=1e-12)
        np.testing.assert_allclose(joint.posteriors[m], likelihood / likelihood.sum(), atol=1e-12)


def test_appending_makes_a_new_object_and_leaves_the_old() -> None:
    p = dirichlet(2, 3, 5, 2)
    first = exact(p[:1], p)
    entropy, masses = first.entropy, first.configurations.masses.copy()
    first.append(p[1])
    first.sampled(10, np.random.default_rng(0)).append(p[1], np.random.default_rng(0))
    assert first.entropy == entropy
    np.testing.assert_array_equal(first.configurations.masses, masses)


@given(pools(max_n=4))
def test_entropies_of_any_small_batch(p: np.ndarray) -> None:
    joint = exact(p, p)
    assert joint.entropy == pytest.approx(oracles.joint_entropy(p.tolist()), abs=1e-9)
    np.testing.assert_allclose(numpy(joint.draw_weights), 1 / p.shape[1], atol=1e-12)


def labelling_of(posterior: np.ndarray, batch: list) -> list[float]:
    """The likelihoods of the one labelling of the batch that has this posterior."""
    every = np.array([oracles.likelihoods(batch, labels) for labels in oracles.configurations(batch)])
    distance = np.abs(every / every.sum(axis=1, keepdims=True) - posterior).max(axis=1)
    assert np.sort(distance)[1] > 1e-6, "two labellings cannot be told apart: take other predictions"
    assert distance.min() < 1e-9
    return every[distance.argmin()].tolist()


def test_sampled_conditional_entropy_is_appendix_c_on_the_same_configurations(maker: Backend) -> None:
    p = dirichlet(7, *STANDARD)
    array, rng = maker.array(p), np.random.default_rng(3)
    joint = exact([array[0, ...]], array).sampled(8, rng)
    for i in (1, 2):
        joint = joint.append(array[i, ...], rng)
    masses = joint.configurations.masses.tolist()
    assert len(set(masses)) > 1, "drawn by importance"
    rows = [labelling_of(posterior, p[:3].tolist()) for posterior in joint.configurations.posteriors]
    before = -math.fsum(w * math.log(math.fsum(row) / len(row)) for row, w in zip(rows, masses, strict=True))
    wanted = [oracles.appendix_c(rows, point, masses) - before for point in p.tolist()]
    np.testing.assert_allclose(numpy(joint.conditional_entropy(array)), wanted, atol=1e-9)


def test_independent_configurations_of_equal_mass_are_the_papers_estimator() -> None:
    p, rng = dirichlet(7, *STANDARD), np.random.default_rng(3)
    every = exact(p[:3], p).configurations
    drawn = rng.choice(len(every), 40, p=every.masses)
    sample = Configurations(every.posteriors[drawn], np.full(40, 1 / 40), every.like)
    rows = [labelling_of(posterior, p[:3].tolist()) for posterior in sample.posteriors]
    before = -math.fsum(math.log(math.fsum(row) / len(row)) for row in rows) / 40
    wanted = [oracles.appendix_c(rows, point) - before for point in p.tolist()]
    np.testing.assert_allclose(sample.conditional_entropy(p), wanted, atol=1e-9)


@pytest.mark.parametrize("count", [20, 200])
def test_sampled_entropy_is_within_four_standard_errors(count: int) -> None:
    p = dirichlet(9, 6, 8, 3, concentration=0.5)
    joint, rng = exact(p[:1], p).sampled(count, np.random.default_rng(0)), np.random.default_rng(1)
    for size in range(2, 7):
        joint = joint.append(p[size - 1], rng)
        wanted = oracles.joint_entropy(p[:size].tolist())
        assert abs(joint.entropy - wanted) <= 4 * joint.standard_error + 1e-12
        assert joint.standard_error < 2 / math.sqrt(count)
    assert joint.standard_error > 0


def test_nothing_is_sampled_while_all_configurations_fit() -> None:
    p = dirichlet(9, 6, 8, 3, concentration=0.5)
    joint = exact(p[:1], p).sampled(3**6, np.random.default_rng(0))
    for size in range(2, 7):
        joint = joint.append(p[size - 1], np.random.default_rng(1))
    assert joint.entropy == pytest.approx(oracles.joint_entropy(p.tolist()), abs=1e-12)
    assert joint.standard_error == 0.0


def test_weights_of_sampled_draws_are_the_mean_posterior(xp: Backend) -> None:
    array = xp.array(dyadic(6, *STANDARD))
    joint = exact([array[0, ...]], array).sampled(7, np.random.default_rng(0))
    joint = joint.append(array[1, ...], np.random.default_rng(1))
    wanted = joint.configurations.masses @ joint.configurations.posteriors
    np.testing.assert_allclose(numpy(joint.draw_weights), wanted, atol=1e-6)
    assert abs(wanted - wanted.mean()).max() > 1e-3, "weights that differ, so that they matter"
    # Under these weights the expected entropy never exceeds the conditional one, sampled however coarsely.
    gap = numpy(joint.conditional_entropy(array)) - numpy(expected_entropy(array, joint.draw_weights))
    assert (gap > -1e-6).all()


@settings(max_examples=40)
@given(pools(max_n=4))
def test_sampled_stays_finite_and_normal_on_any_batch(p: np.ndarray) -> None:
    joint: SampledJointEntropy = exact(p[:1], p).sampled(5, np.random.default_rng(0))
    for point in p:
        joint = joint.append(point, np.random.default_rng(1))
    rows = joint.configurations.posteriors.sum(axis=1)
    np.testing.assert_allclose(rows[joint.configurations.masses > 1e-250], 1, atol=1e-9)
    assert np.isfinite(joint.entropy)
    assert np.isfinite(joint.conditional_entropy(p)).all()
    assert np.isfinite(joint.information_error(p)).all()


def test_errors_are_zero_when_exact_and_a_sampled_ones_come_from_successive_differences(xp: Backend) -> None:
    p = dyadic(8, *STANDARD)
    array = xp.array(p)
    joint = exact([array[0, ...]], array)
    assert numpy(joint.information_error(array)).tolist() == numpy(joint.entropy_error(array)).tolist() == [0.0] * 6
    sampled = joint.sampled(7, np.random.default_rng(0)).append(array[1, ...], np.random.default_rng(1))
    now = sampled.configurations
    assert 0 < now.settled < 6, "some configurations keep their mass and some are a sample"
    informations, entropies = numpy(sampled.information_error(array)), numpy(sampled.entropy_error(array))
    for i, point in enumerate(p):
        means = [oracles.entropy(w @ point) for w in now.posteriors]
        terms = [h - w @ [oracles.entropy(row) for row in point] for h, w in zip(means, now.posteriors, strict=True)]
        for errors, values in ((informations, terms), (entropies, means)):
            weighted = [m * value for m, value in zip(now.masses, values, strict=True)][now.settled :]
            assert errors[i] == pytest.approx(math.sqrt(oracles.systematic_variance(weighted)), abs=1e-5)
