"""Accuracy and likelihood of the mean over draws, against NumPy."""

import numpy as np
import pytest
import torch

from reproduce.evaluation import Batches, accuracy_and_nll


def test_accuracy_and_nll_are_of_the_mean_over_draws() -> None:
    rng = np.random.default_rng(0)
    probs = rng.dirichlet(np.ones(4), size=(50, 7))
    labels = rng.integers(4, size=50)
    mean = probs.mean(axis=1)
    accuracy, nll = accuracy_and_nll(torch.from_numpy(probs).float(), torch.from_numpy(labels))
    assert accuracy == np.mean([mean[i].argmax() == labels[i] for i in range(50)])
    assert nll == pytest.approx(np.mean([-np.log(mean[i, labels[i]]) for i in range(50)]), abs=1e-6)


def test_draws_that_disagree_are_averaged_before_the_class_is_taken() -> None:
    probs = torch.tensor([[[0.6, 0.4], [0.6, 0.4], [0.0, 1.0]]])  # two of three draws say 0, their mean says 1
    assert accuracy_and_nll(probs, torch.tensor([1]))[0] == 1.0


def test_a_probability_of_zero_has_a_finite_likelihood() -> None:
    nll = accuracy_and_nll(torch.tensor([[[1.0, 0.0]]]), torch.tensor([1]))[1]
    assert nll == pytest.approx(-np.log(np.finfo(np.float32).tiny))


def test_batches_hold_every_image_in_order_again_and_again() -> None:
    images = torch.arange(20.0).reshape(20, 1, 1, 1)
    index = torch.tensor([3, 19, 0, 7, 7])
    batches = Batches(images, index, 2)
    assert len(batches) == 3
    for _ in range(2):
        assert [len(batch) for batch in batches] == [2, 2, 1]
        assert torch.cat(list(batches)).flatten().tolist() == [3.0, 19.0, 0.0, 7.0, 7.0]
