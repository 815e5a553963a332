"""Traps 6 to 10: bounds of scores, any counts, independence of the pool, deviations, units."""

import math

import numpy as np
import pytest
from hypothesis import given, settings

import infoacq
from infoacq import BALD, BatchBALD, Greedy, MeanStandardDeviation, SaturationWarning, select_batch
from tests import oracles
from tests.backends import Backend, numpy
from tests.predictions import STANDARD, TRAP_1, dirichlet, dyadic, pools

SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


def assert_within_bounds(selection: infoacq.Selection, draws: int, classes: int, rounding: float) -> None:
    for size, (gain, score) in enumerate(zip(selection.gains, selection.scores, strict=True), start=1):
        assert gain >= 0, "a score fell as the batch grew"
        assert score <= min(math.log(draws), size * math.log(classes)) + rounding


@SATURATING
@settings(max_examples=60)
@given(pools(max_n=6))
def test_trap_06_exact_scores_are_within_bounds_always(p: np.ndarray) -> None:
    selection = select_batch(p, BatchBALD(), len(p), maximiser=Greedy())
    assert selection.standard_errors == [0.0] * len(p)
    assert_within_bounds(selection, p.shape[1], p.shape[2], 1e-12)


@SATURATING
def test_trap_06_on_every_backend(xp: Backend) -> None:
    p = dyadic(61, *STANDARD)
    for objective in (BatchBALD(), BatchBALD(max_configurations=20)):
        selection = select_batch(xp.array(p), objective, 6, maximiser=Greedy(), seed=0)
        assert_within_bounds(selection, STANDARD[1], STANDARD[2], 4e-6)


@pytest.mark.parametrize("seed", range(4))
def test_trap_06_sampled_scores_are_capped_and_saturation_is_flagged(seed: int) -> None:
    """Few draws and many points: what a coarse sample adds up to would pass log K."""
    p = dirichlet(seed, 40, 5, 3, concentration=0.3)
    with pytest.warns(SaturationWarning, match=r"BatchBALD: from pick \d+ of 30 on, .*1\.6094 nats.*more draws"):
        selection = select_batch(p, BatchBALD(max_configurations=30), 30, seed=seed)
    assert_within_bounds(selection, 5, 3, 1e-12)
    first = selection.saturated_from
    assert first is not None
    assert selection.scores[first] >= 0.95 * math.log(5)
    assert first == 0 or selection.scores[first - 1] < 0.95 * math.log(5)
    assert f"saturated from pick {first} on" in str(selection)
    assert "use more draws" in str(selection)


def test_trap_06_unsaturated_selections_say_nothing() -> None:
    selection = select_batch(dirichlet(0, 6, 40, 2), BatchBALD(), 2)
    assert selection.saturated_from is None
    assert "saturated" not in str(selection)


@SATURATING
@pytest.mark.parametrize("configurations", [2, 3, 10])
@pytest.mark.parametrize("draws", [1, 3, 100])
def test_trap_07_any_number_of_configurations_with_any_number_of_draws(configurations: int, draws: int) -> None:
    p = dirichlet(7, 8, draws, 3)
    selection = select_batch(p, BatchBALD(max_configurations=configurations), 6, seed=0)
    assert len(set(selection.indices)) == 6
    assert np.isfinite(selection.scores).all()
    assert_within_bounds(selection, draws, 3, 1e-12)


def test_trap_08_scores_do_not_depend_on_the_other_candidates(xp: Backend) -> None:
    p = dyadic(8, *STANDARD)
    everyone = numpy(infoacq.mutual_information(xp.array(p)))
    for order in ([5, 3, 1, 0, 2, 4], [2, 2, 2, 1, 1, 0], [4]):
        np.testing.assert_allclose(
            numpy(infoacq.mutual_information(xp.array(p[order]))), everyone[order], atol=xp.tolerance
        )


def test_trap_09_deviation_of_one_draw_is_zero(xp: Backend) -> None:
    p = xp.array(dyadic(9, 5, 1, 3))
    selection = select_batch(p, MeanStandardDeviation(), 5)
    assert selection.gains == [0.0] * 5
    assert selection.indices == [0, 1, 2, 3, 4]
    assert selection.unit == "probability"


def test_trap_09_deviations_are_of_no_difference_of_moments() -> None:
    """E[p²] − E[p]² of these is below 0 by rounding, or all rounding."""
    p = np.broadcast_to(np.array([0.1, 0.9], dtype=np.float32), (3, 50, 2)).copy()
    p[1] += np.linspace(-1e-6, 1e-6, 50, dtype=np.float32)[:, None] * np.array([1, -1], dtype=np.float32)
    selection = select_batch(p, MeanStandardDeviation(), 3)
    wanted = dict(enumerate(map(oracles.mean_standard_deviation, p.astype(float).tolist())))
    for i, gain in zip(selection.indices, selection.gains, strict=True):
        assert gain == pytest.approx(wanted[i], abs=2.5e-7), "beyond the rounding of numbers near 1"


def test_trap_10_natural_logarithms_and_units_that_are_said(xp: Backend) -> None:
    assert numpy(infoacq.entropy(xp.array(TRAP_1)))[1] == pytest.approx(math.log(2), abs=xp.tolerance)
    selection = select_batch(xp.array(TRAP_1), BALD(), 3)
    assert selection.indices == [1, 4, 0]
    assert selection.gains == pytest.approx([math.log(2), math.log(2), 0], abs=xp.tolerance)
    assert selection.unit == "nats"
    assert "(nats)" in str(selection)
