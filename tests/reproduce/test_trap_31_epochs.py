"""Trap 31: an epoch of fixed length visits each point ⌊T/n⌋ or ⌈T/n⌉ times, and sees what was acquired."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.digits_mlp import DigitsMLP
from reproduce.training import Labelled, Training, balanced_epoch, train
from tests.reproduce.conftest import RunTiny


@given(points=st.integers(1, 300), samples=st.integers(1, 600), seed=st.integers(0, 2**32))
def test_trap_31_each_point_comes_equally_often(points: int, samples: int, seed: int) -> None:
    order = balanced_epoch(points, samples, np.random.default_rng(seed))
    counts = np.bincount(order, minlength=points)
    assert len(order) == samples
    assert len(counts) == points
    assert set(counts.tolist()) <= {samples // points, -(-samples // points)}


def test_trap_31_an_epoch_is_shuffled_and_another_one_each_time() -> None:
    rng = np.random.default_rng(0)
    first, second = balanced_epoch(20, 5_056, rng), balanced_epoch(20, 5_056, rng)
    assert (first != second).any()
    assert len(set(first[:20].tolist())) < 20  # a tiling in order would begin with all twenty


def test_trap_31_no_labelled_point_is_said() -> None:
    with pytest.raises(ValueError, match="needs a labelled point"):
        balanced_epoch(0, 64, np.random.default_rng(0))


def labelled(n: int) -> Labelled:
    generator = torch.Generator().manual_seed(0)
    return Labelled(torch.randn(n, 1, 8, 8, generator=generator), torch.arange(n) % 10)


def test_trap_31_without_labels_the_model_stays_untrained() -> None:
    settings = Training(max_epochs=2, epoch_samples=64)
    model, epochs = train(DigitsMLP, labelled(0), labelled(10), settings, seed=5)
    torch.manual_seed(5)
    fresh = DigitsMLP()
    assert epochs == 0
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), fresh.parameters(), strict=True))


def test_trap_31_what_was_acquired_is_trained_on(run_tiny: RunTiny, tmp_path: Path) -> None:
    # With epochs shorter than the labelled set, points are left out by turns; with one that covers it, none is.
    seen: list[int] = []
    for n in (20, 23):
        counts = np.bincount(balanced_epoch(n, 256, np.random.default_rng(n)), minlength=n)
        seen.append(int((counts > 0).sum()))
    assert seen == [20, 23]
    assert [step.labelled for step in run_tiny(tmp_path).steps] == [20, 23, 26, 29]


def test_training_depends_on_its_seed_and_leaves_the_global_state_alone() -> None:
    settings = Training(max_epochs=2, epoch_samples=64)
    torch.manual_seed(123)
    before = torch.get_rng_state()
    first, _ = train(DigitsMLP, labelled(20), labelled(30), settings, seed=5)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(7)
    second, _ = train(DigitsMLP, labelled(20), labelled(30), settings, seed=5)
    other, _ = train(DigitsMLP, labelled(20), labelled(30), settings, seed=6)
    assert torch.equal(first.out.weight, second.out.weight)
    assert not torch.equal(first.out.weight, other.out.weight)
