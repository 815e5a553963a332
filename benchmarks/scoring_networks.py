"""The networks whose scoring is timed, untrained: time does not depend on what they have learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from models.emnist_cnn import EMNISTCNN
from models.mnist_cnn import MNISTCNN
from models.vgg16 import VGG16


@dataclass(frozen=True)
class Subject:
    """A network, the shape of one input, and how many to score.

    Naive repetition is timed on fewer images, in whole batches, and fewer passes where it would take minutes: it takes
    as long for each of them.
    """

    build: Callable[[], nn.Module]
    shape: tuple[int, ...]
    images: int
    naive_images: int
    naive_passes: int | None = None  # None: as many as there are draws

    def inputs(self) -> Tensor:
        """Noise; time does not depend on the pictures either."""
        return torch.randn(self.images, *self.shape, generator=torch.Generator().manual_seed(0))


SUBJECTS: Mapping[str, Subject] = {
    "mnist": Subject(MNISTCNN, (1, 28, 28), images=4096, naive_images=512),
    "emnist": Subject(EMNISTCNN, (1, 28, 28), images=2048, naive_images=256),
    "emnist-pooled": Subject(lambda: EMNISTCNN(pool_every_block=True), (1, 28, 28), images=2048, naive_images=256),
    "vgg16": Subject(VGG16, (3, 32, 32), images=512, naive_images=256, naive_passes=10),
}
