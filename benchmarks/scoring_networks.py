"""The networks whose scoring is timed, untrained: time does not depend on what they have learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torchvision.models import vgg16

from models.mnist_cnn import MNISTCNN


@dataclass(frozen=True)
class Subject:
    """A network, the shape of one input, and how many to score."""

    build: Callable[[], nn.Module]
    shape: tuple[int, ...]
    images: int
    naive_images: int  # naive repetition is timed on fewer, its time per image does not depend on their number

    def inputs(self) -> Tensor:
        """Noise; time does not depend on the pictures either."""
        return torch.randn(self.images, *self.shape, generator=torch.Generator().manual_seed(0))


def three_blocks() -> nn.Module:
    """Three blocks [convolution 3x3, dropout, max-pooling, relu] of 32, 64, 128 filters and an MLP of 512 and 47 units.

    Source: the EMNIST network of Kirsch, van Amersfoort & Gal (2019), BatchBALD.
    """
    blocks: list[nn.Module] = []
    for width, filters in ((1, 32), (32, 64), (64, 128)):
        blocks += [nn.Conv2d(width, filters, 3, padding=1), nn.Dropout2d(0.5), nn.MaxPool2d(2), nn.ReLU()]
    head = [nn.Flatten(), nn.Linear(128 * 9, 512), nn.Dropout(0.5), nn.ReLU(), nn.Linear(512, 47)]
    return nn.Sequential(*blocks, *head)


SUBJECTS: Mapping[str, Subject] = {
    "mnist": Subject(MNISTCNN, (1, 28, 28), images=4096, naive_images=512),
    "emnist": Subject(three_blocks, (1, 28, 28), images=2048, naive_images=256),
    "vgg16": Subject(lambda: vgg16(num_classes=10), (3, 224, 224), images=64, naive_images=4),
}
