"""Real predictions: 10,000 MNIST images under 100 dropout masks, which are not part of the project."""

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import referee
from infoacq import BatchBALD, Greedy, LazyGreedy, select_batch
from tests.backends import Backend

ROWS, SIZE = 4_000, 10
# The score of 4.52 nats is within 5 % of log 100, all that 100 draws can be told apart by, and is said to be.
pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@pytest.fixture(scope="module")
def mapped(shared: Path) -> np.ndarray:
    return np.load(shared / "predictions" / "mnist_cnn_probs_10000x100x10.npy", mmap_mode="r")[:ROWS]


def test_the_batch_is_worth_what_was_measured_elsewhere_and_what_the_referee_says(mapped: np.ndarray) -> None:
    selection = select_batch(mapped, BatchBALD(max_configurations=10_000), SIZE, seed=0)
    score, own_error = selection.scores[-1], math.fsum(selection.standard_errors)
    assert abs(score - 4.52) < 0.02
    assert score < math.log(100)
    value, error = referee.information(mapped, selection.indices, samples=1_000_000, seed=1)
    assert error < 0.001
    assert abs(score - value) < 4 * math.hypot(error, own_error)
    assert abs(score - value) < 0.005
    # Each pick's own score too, so that errors of opposite sign do not hide each other.
    for size in (1, 3, 6):
        value, error = referee.information(mapped, selection.indices[:size], samples=200_000, seed=2)
        assert abs(selection.scores[size - 1] - value) < 4 * error + 1e-3


def test_the_default_settings_reach_it_too(mapped: np.ndarray) -> None:
    selection = select_batch(mapped, BatchBALD(), SIZE, seed=0)
    assert abs(selection.scores[-1] - 4.52) < 0.02


def test_lazy_and_plain_greedy_choose_the_same(mapped: np.ndarray) -> None:
    objective = BatchBALD(max_configurations=2_000)
    greedy = select_batch(mapped, objective, SIZE, seed=0, maximiser=Greedy())
    lazy = select_batch(mapped, objective, SIZE, seed=0, maximiser=LazyGreedy())
    assert lazy.indices == greedy.indices
    assert lazy.scores == pytest.approx(greedy.scores, abs=1e-5)
    assert lazy.evaluations < greedy.evaluations / 2


def test_every_backend_chooses_the_same(mapped: np.ndarray, maker: Backend) -> None:
    some = np.array(mapped[:500], dtype=np.float64)
    some /= some.sum(axis=-1, keepdims=True)
    objective = BatchBALD(max_configurations=1_000)
    wanted = select_batch(some, objective, SIZE, seed=0)
    got = select_batch(maker.array(some), objective, SIZE, seed=0)
    assert got.indices == wanted.indices
    assert got.scores == pytest.approx(wanted.scores, abs=1e-9)


def test_float32_chooses_the_same(mapped: np.ndarray) -> None:
    some = mapped.astype(np.float32)
    some /= some.sum(axis=-1, keepdims=True)
    narrow, wide = (select_batch(p, BatchBALD(1_000), SIZE, seed=0) for p in (some, some.astype(np.float64)))
    assert narrow.indices == wide.indices
    assert narrow.scores == pytest.approx(wide.scores, abs=1e-5)
