"""Quartiles by rank, and labels needed, against NumPy and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduce.curves import Trajectory, curve, quartiles

ACCURACIES = st.lists(st.floats(0, 1), min_size=1, max_size=13)


@given(ACCURACIES)
def test_quartiles_are_those_of_numpy(values: list[float]) -> None:
    expected = np.quantile(values, [0.25, 0.5, 0.75], method="averaged_inverted_cdf")
    q = quartiles(values)
    assert [q.q25, q.median, q.q75] == pytest.approx(expected.tolist(), abs=1e-12)
    assert q.trials == len(values)


@given(ACCURACIES)
def test_the_median_is_the_ordinary_one(values: list[float]) -> None:
    assert quartiles(values).median == pytest.approx(float(np.median(values)), abs=1e-12)


def test_targets_that_were_not_reached_are_infinite_and_never_nan() -> None:
    q = quartiles([60.0, math.inf, math.inf, 40.0])
    assert (q.q25, q.median, q.q75) == (50, math.inf, math.inf)


def test_labels_to_reach_counts_the_first_time() -> None:
    trajectory = Trajectory([0, 10, 20, 30], [0.5, 0.9, 0.8, 0.95])
    assert trajectory.labels_to_reach(0.9) == 10
    assert trajectory.labels_to_reach(0.91) == 30
    assert trajectory.labels_to_reach(0.96) == math.inf


def test_a_curve_takes_the_trials_that_got_so_far() -> None:
    found = curve([Trajectory([0, 10, 20], [0.1, 0.2, 0.3]), Trajectory([0, 10], [0.3, 0.6])])
    assert found.acquired == [0, 10, 20]
    assert [q.median for q in found.quartiles] == pytest.approx([0.2, 0.4, 0.3])
    assert [q.trials for q in found.quartiles] == [2, 2, 1]
