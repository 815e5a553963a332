from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq import BatchBALD, Greedy, LazyGreedy, Random, from_probs, select_batch
from infoacq.gaussian import GaussianPosterior, from_embeddings, from_values
from infoacq.maximisers import PowerSampling
from infoacq.objectives import GaussianBatchBALD
from infoacq.wrappers import AtMostPerGroup, Constrained, CostAware
from tests.backends import Backend
from tests.predictions import dirichlet


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def information(covariance, batch, noise):
    """½ log det(I + K_SS / σ²) of the covariance of function values."""
    inside = covariance[np.ix_(batch, batch)]
    return 0.5 * np.linalg.slogdet(np.eye(len(batch)) + inside / noise)[1]


@given(st.integers(0, 2**32 - 1), st.integers(2, 8), st.integers(2, 6))
@settings(max_examples=30)
def test_scores_of_values_are_the_log_determinants_of_their_covariance(seed, n, k):
    values = normal(seed, n, k)
    chosen = select_batch(from_values(values), GaussianBatchBALD(0.2), n)
    wanted = [information(np.cov(values), chosen.indices[: i + 1], 0.2) for i in range(n)]
    np.testing.assert_allclose(chosen.scores, wanted, atol=1e-9)


@pytest.mark.parametrize("maximiser", [None, Greedy(), LazyGreedy(first=1)])
def test_every_pick_is_the_best_one(maximiser):
    embeddings = normal(0, 9, 4)
    chosen = select_batch(from_embeddings(embeddings), GaussianBatchBALD(0.1), 6, maximiser=maximiser).indices
    for i in range(6):
        rest = [j for j in range(9) if j not in chosen[:i]]
        best = max(rest, key=lambda j: information(embeddings @ embeddings.T, [*chosen[:i], j], 0.1))
        assert chosen[i] == best


def test_several_outputs_count_together():
    values = normal(1, 6, 7, 2)
    chosen = select_batch(from_values(values), GaussianBatchBALD(0.3), 4)
    covariance = np.cov(values.transpose(0, 2, 1).reshape(12, 7))
    both = [j for i in chosen.indices for j in (2 * i, 2 * i + 1)]
    wanted = [information(covariance, both[: 2 * i + 2], 0.3) for i in range(4)]
    np.testing.assert_allclose(chosen.scores, wanted, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_greedy_reaches_its_guarantee(seed):
    e = normal(seed, 8, 3)
    chosen = select_batch(from_embeddings(e), GaussianBatchBALD(0.1), 3)
    best = max(information(e @ e.T, list(b), 0.1) for b in combinations(range(8), 3))
    assert (1 - 1 / np.e) * best <= chosen.scores[-1] <= best + 1e-9


def test_every_backend_chooses_the_same_batch(maker: Backend):
    values = np.round(normal(2, 30, 8) * 8) / 8  # every dtype holds these
    wanted = select_batch(from_values(values), GaussianBatchBALD(0.5), 6)
    chosen = select_batch(from_values(maker.array(values)), GaussianBatchBALD(0.5), 6)
    assert chosen.indices == wanted.indices
    np.testing.assert_allclose(chosen.gains, wanted.gains, atol=10 * maker.tolerance)


def test_a_duplicate_tells_less_the_less_noise_there_is():
    twice = np.repeat(normal(3, 1, 5), 2, axis=0)
    for noise in (1e-8, 1.0):
        first, second = select_batch(from_embeddings(twice), GaussianBatchBALD(noise), 2).gains
        assert second == pytest.approx(0.5 * np.log(2 if noise == 1e-8 else 1 + 1 / (1 + 1 / (twice[0] @ twice[0]))))
        assert second < first


def test_noise_of_ones_own_is_a_scale_of_the_values():
    e, own = normal(4, 6, 4), np.array([0.5, 1.0, 2.0, 0.1, 3.0, 1.5])
    chosen = select_batch(from_embeddings(e / own[:, None]), GaussianBatchBALD(1.0), 4)
    inside = (e @ e.T)[np.ix_(chosen.indices, chosen.indices)] + np.diag(own[chosen.indices] ** 2)
    wanted = 0.5 * (np.linalg.slogdet(inside)[1] - np.log(own[chosen.indices] ** 2).sum())
    assert chosen.scores[-1] == pytest.approx(wanted)


def test_pending_points_are_conditioned_on():
    e = normal(5, 8, 4)
    chosen = select_batch(from_embeddings(e), GaussianBatchBALD(0.1), 2, pending=[7, 0])
    k = e @ e.T
    assert chosen.conditioned == pytest.approx(information(k, [7, 0], 0.1))
    assert chosen.scores[-1] == pytest.approx(information(k, [7, 0, *chosen.indices], 0.1) - chosen.conditioned)


def test_wrappers_and_other_maximisers_and_shards():
    pool = from_embeddings(normal(6, 12, 4))
    objective = GaussianBatchBALD(0.1)
    assert len(select_batch(pool, Constrained(objective, [AtMostPerGroup([0, 1, 2] * 4)]), 5)) == 3
    assert select_batch(pool, CostAware(objective, [1.0] * 12), 4) == select_batch(pool, objective, 4)
    assert len(select_batch(pool, objective, 4, maximiser=PowerSampling(), seed=0)) == 4
    assert select_batch(pool.with_shards_of(5), objective, 4) == select_batch(pool, objective, 4)
    assert len(select_batch(pool, Random(), 4, seed=0)) == 4


def test_hundreds_of_picks_of_a_pool_of_near_duplicates():
    e = normal(7, 15, 12)[np.random.default_rng(8).integers(0, 15, 500)] + 1e-8 * normal(9, 500, 12)
    chosen = select_batch(from_embeddings(e), GaussianBatchBALD(0.01), 400)
    assert sorted(set(chosen.indices)) == sorted(chosen.indices)
    assert min(chosen.gains) > 0
    assert (np.diff(chosen.gains) <= 1e-12).all()
    picked = e[chosen.indices]
    wanted = 0.5 * np.linalg.slogdet(np.eye(12) + picked.T @ picked / 0.01)[1]
    assert chosen.scores[-1] == pytest.approx(wanted, rel=1e-10)


def test_thousands_of_near_duplicates_are_observed_without_losing_digits():
    e = normal(7, 15, 12)[np.random.default_rng(8).integers(0, 15, 3000)] + 1e-8 * normal(9, 3000, 12)
    known, total, before = GaussianPosterior.prior(e[:1]), 0.0, np.inf
    for row in e:
        total += float(known.information(row[None], 0.01)[0])
        known = known.append(row[None], 0.01)
        left = float(known.information(e[:1], 0.01)[0])
        assert 0 < left <= before * (1 + 1e-12)
        before = left
    assert total == pytest.approx(0.5 * np.linalg.slogdet(np.eye(12) + e.T @ e / 0.01)[1], rel=1e-12)
    wanted = np.linalg.inv(np.eye(12) + e.T @ e / 0.01)
    np.testing.assert_allclose(known.root @ known.root.T, wanted, rtol=1e-7, atol=1e-12)


def test_pools_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="the pool holds values of a Gaussian model"):
        select_batch(from_embeddings(normal(10, 4, 3)), BatchBALD(), 1)
    with pytest.raises(ValueError, match="reads values of a Gaussian model"):
        select_batch(from_probs(dirichlet(0, 4, 3, 2)), GaussianBatchBALD(0.1), 1)


@pytest.mark.parametrize("noise", [0.0, -1.0, np.inf])
def test_the_noise_is_above_zero(noise):
    with pytest.raises(ValueError, match="noise_variance must be a finite number above 0"):
        GaussianBatchBALD(noise)
