"""Trap 32: the noise of a replicated image is fixed by its index."""

from pathlib import Path

import numpy as np
import pytest
import torch

from reproduce.data import MNIST, Digits, replicate


def test_trap_32_noise_is_fixed_whatever_was_drawn_before() -> None:
    torch.manual_seed(0)
    first = Digits(copies=3, noise=0.1).load(None).train_images
    torch.manual_seed(1)
    torch.randn(100)
    again = Digits(copies=3, noise=0.1).load(None).train_images
    assert torch.equal(first, again)
    index = torch.tensor([5, 3_000, 5])
    assert torch.equal(first[index][0], first[index][2])


def test_trap_32_fewer_copies_are_the_beginning_of_more() -> None:
    two, five = (Digits(copies=copies, noise=0.1).load(None) for copies in (2, 5))
    assert torch.equal(two.train_images, five.train_images[: len(two.train_images)])
    assert torch.equal(two.train_labels, five.train_labels[: len(two.train_labels)])
    assert torch.equal(two.test_images, five.test_images)


def test_trap_32_each_copy_of_each_pixel_has_noise_of_its_own() -> None:
    images = torch.linspace(-1, 1, 2_000 * 64).reshape(2_000, 1, 8, 8)
    kept = images.clone()
    noise = (replicate(images, 3, 0.1) - images.repeat(3, 1, 1, 1)).reshape(3, -1).double().numpy()
    pixels = noise.shape[1]
    assert torch.equal(images, kept)
    assert np.abs(noise.mean(axis=1)).max() < 4 * 0.1 / np.sqrt(pixels)
    assert noise.std(axis=1) == pytest.approx([0.1] * 3, abs=4 * 0.1 / np.sqrt(2 * pixels))
    between = np.corrcoef(noise)[np.triu_indices(3, 1)]
    assert np.abs(between).max() < 4 / np.sqrt(pixels)


def test_without_noise_copies_are_equal() -> None:
    images = torch.arange(6.0).reshape(2, 1, 1, 3)
    assert torch.equal(replicate(images, 2, 0.0), torch.cat([images, images]))


def test_copies_of_mnist_are_told_by_their_index(shared: Path) -> None:
    data = MNIST(copies=2).load(shared / "data")
    assert len(data.train_labels) == 2 * data.originals
    for index in (0, 17, data.originals - 1):
        assert torch.equal(data.train_images[index], data.train_images[index + data.originals])
