import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq import Greedy, LazyGreedy, select_batch
from infoacq.gaussian import from_embeddings, from_values
from infoacq.objectives import ITL, VTL, GaussianBatchBALD
from tests.backends import Backend


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def covariances(points, targets):
    """K_SS, K_SA and K_AA of rows of features."""
    return points @ points.T, points @ targets.T, targets @ targets.T


def told(points, targets, noise, target_noise):
    """I[y_S; targets] by the determinants of covariances of everything at once."""
    k_ss, k_sa, k_aa = covariances(points, targets)
    given = k_ss - k_sa @ np.linalg.pinv(k_aa + target_noise * np.eye(len(targets)), rcond=1e-10) @ k_sa.T
    before, after = (np.linalg.slogdet(k / noise + np.eye(len(points)))[1] for k in (k_ss, given))
    return 0.5 * (before - after)


def lowered(points, targets, noise, weights):
    """How much the weighted variance of the targets falls when y_S is known."""
    k_ss, k_sa, _ = covariances(points, targets)
    return weights @ np.diag(k_sa.T @ np.linalg.solve(k_ss + noise * np.eye(len(points)), k_sa))


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 9), st.sampled_from([0.0, 0.3]))
@settings(max_examples=40)
def test_scores_of_itl_are_the_information_on_the_targets(seed, n, t, target_noise):
    e, targets = normal(seed, n, 5), normal(seed + 1, t, 5)
    chosen = select_batch(from_embeddings(e), ITL(from_embeddings(targets), 0.2, target_noise), n)
    wanted = [told(e[chosen.indices[: i + 1]], targets, 0.2, target_noise) for i in range(n)]
    np.testing.assert_allclose(chosen.scores, wanted, atol=1e-7)


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 9))
@settings(max_examples=40)
def test_scores_of_vtl_are_what_the_targets_variance_falls_by(seed, n, t):
    e, targets, weights = normal(seed, n, 5), normal(seed + 1, t, 5), np.random.default_rng(seed).random(t)
    chosen = select_batch(from_embeddings(e), VTL(from_embeddings(targets), 0.2, weights), n)
    relative = weights / weights.sum()
    wanted = [lowered(e[chosen.indices[: i + 1]], targets, 0.2, relative) for i in range(n)]
    np.testing.assert_allclose(chosen.scores, wanted, atol=1e-9)
    assert chosen.unit == "variance"


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_every_pick_is_the_best_one(kind):
    e, targets = normal(0, 9, 5), normal(1, 2, 5)
    chosen = select_batch(from_embeddings(e), kind(from_embeddings(targets), 0.1), 5).indices

    def value(batch):
        if kind is ITL:
            return told(e[batch], targets, 0.1, 0.0)
        return lowered(e[batch], targets, 0.1, np.full(2, 0.5))

    for i in range(5):
        assert chosen[i] == max((j for j in range(9) if j not in chosen[:i]), key=lambda j: value([*chosen[:i], j]))


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_draws_with_several_outputs(kind):
    draws = normal(2, 8, 12, 2)
    pool, targets = from_values(draws[:5]), from_values(draws[5:])
    chosen = select_batch(pool, kind(targets, 0.3), 3)
    centred = ((draws - draws.mean(axis=1, keepdims=True)) / np.sqrt(11)).transpose(0, 2, 1)
    points, aims = centred[chosen.indices].reshape(6, 12), centred[5:].reshape(6, 12)
    wanted = told(points, aims, 0.3, 0.0) if kind is ITL else lowered(points, aims, 0.3, np.full(6, 1 / 6)) * 2
    assert chosen.scores[-1] == pytest.approx(wanted, abs=1e-9)


def test_targets_that_are_everything_make_it_undirected():
    pool = from_embeddings(normal(3, 20, 4))
    directed, undirected = (
        select_batch(pool, o, 6, maximiser=Greedy()) for o in (ITL(pool, 0.1), GaussianBatchBALD(0.1))
    )
    assert directed.indices == undirected.indices
    np.testing.assert_allclose(directed.gains, undirected.gains, atol=1e-9)


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_what_no_target_depends_on_is_worth_nothing(kind):
    e = np.eye(4)
    chosen = select_batch(from_embeddings(e), kind(from_embeddings(e[[2]]), 0.1), 2)
    assert chosen.indices[0] == 2
    assert chosen.gains[0] > 0.5
    assert chosen.gains[1] == pytest.approx(0.0, abs=1e-12)


def test_a_gain_may_grow_with_the_batch():
    # The target is the first feature; a point sees it together with the second, which another point sees alone.
    e = np.array([[1.0, 5.0], [0.0, 1.0]])
    for objective in (
        ITL(from_embeddings(np.array([[1.0, 0.0]])), 0.01),
        VTL(from_embeddings(np.array([[1.0, 0.0]])), 0.01),
    ):
        chosen = select_batch(from_embeddings(e), objective, 2)
        assert chosen.indices == [0, 1]
        assert chosen.gains[1] > chosen.gains[0]
        with pytest.raises(ValueError, match="LazyGreedy needs a submodular objective"):
            select_batch(from_embeddings(e), objective, 2, maximiser=LazyGreedy())


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_every_backend_chooses_the_same_batch(maker: Backend, kind):
    e, targets = normal(4, 30, 6), normal(5, 3, 6)
    wanted = select_batch(from_embeddings(e), kind(from_embeddings(targets), 0.3), 5)
    ours = from_embeddings(maker.array(targets))
    chosen = select_batch(from_embeddings(maker.array(e)), kind(ours, 0.3), 5)
    assert chosen.indices == wanted.indices
    np.testing.assert_allclose(chosen.gains, wanted.gains, atol=1e-9)


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_pending_points_are_conditioned_on(kind):
    e, targets = normal(6, 8, 5), normal(7, 2, 5)
    chosen = select_batch(from_embeddings(e), kind(from_embeddings(targets), 0.1), 2, pending=[3, 1])
    value = (
        (lambda b: told(e[b], targets, 0.1, 0.0))
        if kind is ITL
        else lambda b: lowered(e[b], targets, 0.1, np.full(2, 0.5))
    )
    assert chosen.scores[-1] == pytest.approx(value([3, 1, *chosen.indices]) - value([3, 1]), abs=1e-9)


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_both_pickle_and_keep_their_states(kind):
    pool, objective = from_embeddings(normal(8, 6, 4)), kind(from_embeddings(normal(9, 30, 4)), 0.1)
    state = objective.init(pool)
    before = objective.gains(state, pool.take(np.arange(6)))
    objective.update(state, pool.take(np.array([2])), np.random.default_rng(0))
    copy, copied = pickle.loads(pickle.dumps((objective, state)))
    np.testing.assert_array_equal(copy.gains(copied, pool.take(np.arange(6))), before)


@pytest.mark.parametrize("kind", [ITL, VTL])
def test_bad_targets_and_numbers_are_refused_at_once(kind, untyped):
    with pytest.raises(
        TypeError, match="targets must be made as the pool is, by from_values or from_embeddings; got an array"
    ):
        kind(normal(0, 2, 3), 0.1)
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0"):
        kind(from_embeddings(normal(0, 2, 3)), 0.0)
    with pytest.raises(ValueError, match="targets must be under the pool's 4 draws, or have its 4 features; got 3"):
        select_batch(from_embeddings(normal(0, 5, 4)), kind(from_embeddings(normal(0, 2, 3)), 0.1), 1)
    with pytest.raises(ValueError, match="target_noise_variance must be a finite number of at least 0"):
        ITL(from_embeddings(normal(0, 2, 3)), 0.1, -1.0)
    with pytest.raises(ValueError, match="weights must hold one entry for each of the 2 targets"):
        VTL(from_embeddings(normal(0, 2, 3)), 0.1, [1.0])
