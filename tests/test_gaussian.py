import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq.gaussian import GaussianPosterior, from_embeddings, from_values, half_log_det, host_rows, rows
from tests.backends import Backend, numpy


def dense(features, noise):
    """½ log det(I + Φ Φᵀ / σ²) of rows of features, by the determinant of all of them at once."""
    return 0.5 * np.linalg.slogdet(np.eye(len(features)) + features @ features.T / noise)[1]


def test_values_become_the_square_root_of_their_covariance(maker: Backend):
    values = np.random.default_rng(0).standard_normal((5, 7)) + 100
    features = numpy(from_values(maker.array(values)).predictions)
    np.testing.assert_allclose(features @ features.T, np.cov(values), atol=1e-9)


def test_values_of_several_outputs():
    values = np.random.default_rng(1).standard_normal((4, 6, 3))
    each = host_rows(from_values(values).predictions)
    np.testing.assert_allclose(each @ each.T, np.cov(values.transpose(0, 2, 1).reshape(12, 6)), atol=1e-12)


def test_embeddings_are_taken_as_they_are():
    e = np.random.default_rng(2).standard_normal((4, 6))
    assert from_embeddings(e).predictions is e
    np.testing.assert_array_equal(rows(e)[:, 0, :], e)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 6), st.floats(1e-6, 1e3))
@settings(max_examples=60)
def test_gains_sum_to_the_dense_log_determinant(seed, n, k, noise):
    features = np.random.default_rng(seed).standard_normal((n, k))
    known, total = GaussianPosterior.prior(features), 0.0
    for row in features:
        total += float(known.information(row[None], noise)[0])
        known = known.append(row[None], noise)
    assert total == pytest.approx(dense(features, noise), rel=1e-9, abs=1e-9)


def test_several_outputs_at_once_are_one_after_the_other(maker: Backend):
    features = np.random.default_rng(3).standard_normal((5, 4, 3))
    known = GaussianPosterior.prior(maker.array(features))
    together = numpy(known.information(maker.array(features), 0.3))
    np.testing.assert_allclose(together, [dense(f.T, 0.3) for f in features], atol=1e-9)
    after = known.append(features[0].T, 0.3)
    both = np.concatenate([features[0].T, features[1].T])
    gain = numpy(after.information(maker.array(features[1:2]), 0.3))[0]
    assert gain == pytest.approx(dense(both, 0.3) - dense(features[0].T, 0.3), abs=1e-9)


def test_thousands_of_near_duplicates_stay_exact():
    rng = np.random.default_rng(4)
    features = rng.standard_normal((20, 30))[rng.integers(0, 20, 4000)] + 1e-9 * rng.standard_normal((4000, 30))
    noise, known, total = 1e-4, GaussianPosterior.prior(features), 0.0
    for row in features:
        gain = float(known.information(row[None], noise)[0])
        assert gain > 0
        total += gain
        known = known.append(row[None], noise)
    # The determinant of the 30 × 30 matrix of all of them: another way than the 4000 updates, and than 4000 × 4000.
    wanted = 0.5 * np.linalg.slogdet(np.eye(30) + features.T @ features / noise)[1]
    assert total == pytest.approx(wanted, rel=1e-10)
    # By singular values, as the normal equations lose half of the digits.
    _, singular, directions = np.linalg.svd(features, full_matrices=False)
    covariance = directions.T / (1 + singular**2 / noise) @ directions
    np.testing.assert_allclose(known.root @ known.root.T, covariance, atol=1e-10)


@pytest.mark.parametrize("targets", [1, 3, 20])
@pytest.mark.parametrize("noise", [0.5, 0.0])
def test_knowing_all_at_once_is_the_dense_posterior(targets, noise):
    features = np.random.default_rng(5).standard_normal((targets, 6))
    known = GaussianPosterior.knowing(features, noise, 1e-15, np.ones(1))
    if noise:
        wanted = np.linalg.inv(np.eye(6) + features.T @ features / noise)
    else:
        wanted = np.eye(6) - np.linalg.pinv(features) @ features
    np.testing.assert_allclose(known.root @ known.root.T, wanted, atol=1e-10)


def test_targets_that_differ_by_rounding_tell_one_direction():
    row = np.random.default_rng(6).standard_normal((1, 5))
    twice = np.concatenate([row, row * (1 + 1e-8)]).astype(np.float32).astype(np.float64)
    known = GaussianPosterior.knowing(twice, 0.0, float(np.finfo(np.float32).eps), np.ones(1))
    assert np.trace(known.root @ known.root.T) == pytest.approx(4)


def test_half_precision_is_computed_in_single():
    e = np.random.default_rng(7).standard_normal((50, 8)).astype(np.float16)
    known = GaussianPosterior.prior(e)
    gains = known.information(e, 0.1)
    assert gains.dtype == np.float32
    np.testing.assert_allclose(gains, 0.5 * np.log1p((e.astype(float) ** 2).sum(axis=1) / 0.1), rtol=1e-5)


def test_a_small_gain_is_not_lost_beside_one():
    assert half_log_det(np.full((1, 1, 1), 1e-10), 1.0)[0] == pytest.approx(0.5e-20)


def test_the_posterior_that_was_stays():
    known = GaussianPosterior.prior(np.ones((1, 3)))
    before = known.root.copy()
    known.append(np.ones((1, 3)), 1.0)
    np.testing.assert_array_equal(known.root, before)
    assert math.isclose(known.information(np.ones((1, 3)), 1.0)[0], 0.5 * math.log(4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: from_values(np.ones(4)), r"values must have shape \(n, k\) or \(n, k, d\), none empty; got \(4,\)"),
        (lambda: from_values(np.ones((0, 4))), r"none empty; got \(0, 4\)"),
        (lambda: from_values(np.ones((4, 1))), "values must be under at least 2 draws"),
        (lambda: from_values(np.array([[1.0, np.nan]])), r"candidate 0 is nan at \(0, 1\)"),
        (lambda: from_embeddings(np.ones((2, 3, 4))), r"embeddings must have shape \(n, features\)"),
        (lambda: from_embeddings(np.array([[1.0], [-np.inf]])), r"candidate 1 is -inf at \(1, 0\)"),
    ],
)
def test_bad_pools_are_refused(untyped, make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_whole_numbers_are_refused(untyped):
    with pytest.raises(TypeError, match="values must hold floating-point numbers"):
        from_values(np.ones((3, 4), dtype=int))
