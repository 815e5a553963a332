"""Configurations kept by importance: unbiased, the heavy ones without noise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoacq.sampling import impurity, thinned

MASSES = np.array([0.4, 0.25, 0.1, 0.08, 0.05, 0.04, 0.03, 0.02, 0.02, 0.01, 0.0])
IMPURITIES = np.array([0.0, 0.5, 0.9, 0.1, 0.7, 0.0, 0.3, 0.8, 0.2, 0.6, 0.5])
SEEDS = 4_000


def test_every_configuration_is_kept_in_its_share_on_average() -> None:
    shares = np.zeros((SEEDS, len(MASSES)))
    for seed in range(SEEDS):
        kept = thinned(MASSES, IMPURITIES, 5, np.random.default_rng(seed))
        np.add.at(shares[seed], kept.positions, kept.masses)
        assert len(kept.positions) == 5
        assert kept.masses.sum() == pytest.approx(1.0, abs=1e-12)
    # Masses are divided by their sum, which biases a share by less than its own variance.
    error = shares.std(axis=0) / math.sqrt(SEEDS)
    assert (np.abs(shares.mean(axis=0) - MASSES) <= 4 * error + shares.var(axis=0)).all()
    assert shares[:, -1].max() == 0, "a configuration of mass 0 is never kept"


def test_the_heavy_keep_their_mass_up_to_the_common_factor() -> None:
    kept = thinned(MASSES, IMPURITIES, 6, np.random.default_rng(1))
    assert 0 < kept.settled < 6
    ratio = kept.masses[: kept.settled] / MASSES[kept.positions[: kept.settled]]
    np.testing.assert_allclose(ratio, ratio[0])


def test_all_are_kept_as_they_are_when_they_fit() -> None:
    kept = thinned(MASSES, IMPURITIES, len(MASSES), np.random.default_rng(0))
    np.testing.assert_array_equal(kept.positions, np.arange(len(MASSES)))
    np.testing.assert_array_equal(kept.masses, MASSES)
    assert kept.settled == len(MASSES)


def test_of_equal_mass_the_undecided_are_kept_more_often() -> None:
    kept = [thinned(np.full(10, 0.1), np.arange(10) / 10, 4, np.random.default_rng(seed)) for seed in range(500)]
    counts = np.bincount(np.concatenate([k.positions for k in kept]), minlength=10)
    assert counts[9] > 1.5 * counts[0]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=40),
    st.integers(1, 40),
    st.integers(0, 2**32),
)
def test_any_masses_and_impurities_give_as_many_and_all_of_the_mass(pairs: list, count: int, seed: int) -> None:
    masses, impurities = np.array(pairs).T
    if masses.sum() < 1e-300:
        return
    kept = thinned(masses / masses.sum(), impurities, count, np.random.default_rng(seed))
    fewer = len(masses) > count
    assert len(kept.positions) == (min(count, np.count_nonzero(masses)) if fewer else len(masses))
    assert kept.masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert (kept.masses >= 0).all()


def test_impurity_is_zero_for_a_known_draw_and_largest_for_none_known() -> None:
    posteriors = np.array([[1.0, 0, 0, 0], [0.25] * 4, [0.5, 0.5, 0, 0]])
    np.testing.assert_allclose(impurity(posteriors), [0, 0.75, 0.5])


def test_two_at_least_are_sampled_so_that_their_error_can_be_told() -> None:
    falling = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
    for count in (2, 3, 4):
        kept = thinned(falling, np.zeros(5), count, np.random.default_rng(0))
        assert kept.settled <= count - 2, "one sampled configuration alone would be said to have no error"
