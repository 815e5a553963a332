"""CINIC-10: small photographs of ten classes from CIFAR-10 and ImageNet, normalised as for ImageNet's networks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from tqdm import tqdm

from reproduce.data import DOWNLOADS, DataSet
from reproduce.errors import UserError

PARTS = ("train", "valid", "test")
PART = 90_000  # images of each part of the official data set
SIDE = 32
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, as torchvision's weights expect them
ADDRESS = "https://datashare.ed.ac.uk/handle/10283/3192"
Images = Float[Tensor, "n 3 32 32"]


@dataclass(frozen=True)
class CINIC10:
    """The training and the validation part as one; a smaller data set in the same folders is a stand-in, and said so.

    Source: Darlow, Crowley, Antoniou & Storkey (2018), CINIC-10 is not ImageNet or CIFAR-10.
    """

    def load(self, root: Path | None) -> DataSet:
        """All images, held in memory: 3.3 GB for the official data set.

        Raises:
            UserError: the folders are not under `root`, or an image is damaged.
        """
        where = (DOWNLOADS if root is None else root) / "CINIC-10"
        try:
            listed = {part: _listed(where / part) for part in PARTS}
            classes = _one_set_of_classes([names for names, _ in listed.values()])
            images, labels = _read([*listed["train"][1], *listed["valid"][1]])
            test_images, test_labels = _read(_mixed(listed["test"][1]))
        except (ValueError, OSError) as error:
            raise UserError(
                f"CINIC-10 can't be read from {where} ({error}). Give the folder that holds CINIC-10/train/CLASS/,"
                f" CINIC-10/valid/CLASS/ and CINIC-10/test/CLASS/ with --data DIR; the archive is at {ADDRESS}."
            ) from error
        official = all(len(files) == PART for _, files in listed.values())
        return DataSet(
            images,
            labels,
            test_images,
            test_labels,
            len(labels),
            classes,
            len(labels) / (2 * PART),
            "" if official else f"CINIC-10 stand-in ({len(labels):,} images)",
        )


def _listed(folder: Path) -> tuple[tuple[str, ...], list[tuple[str, int]]]:
    """The classes of a part, and its files with the number of their class, in the order of their names."""
    from torchvision import datasets

    part = datasets.ImageFolder(folder)
    return tuple(part.classes), part.samples


def _mixed(files: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """In an order that is always the same, but not class by class: the beginning of a test set has all classes."""
    return [files[i] for i in np.random.default_rng(0).permutation(len(files))]


def _one_set_of_classes(found: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if len(set(found)) != 1:
        raise ValueError(f"train, valid and test have different classes: {'; '.join(map(', '.join, found))}")
    return found[0]


def _read(files: Sequence[tuple[str, int]]) -> tuple[Images, Int[Tensor, " n"]]:
    from torchvision.datasets.folder import pil_loader

    images = torch.empty(len(files), 3, SIDE, SIDE)
    bar = tqdm(files, desc="reading images", unit="image", delay=5, leave=False, disable=None)
    for i, (name, _) in enumerate(bar):
        pixels = np.array(pil_loader(name))
        if pixels.shape != (SIDE, SIDE, 3):
            raise ValueError(f"{name} has {pixels.shape[1]}x{pixels.shape[0]} pixels and not {SIDE}x{SIDE}")
        images[i] = torch.from_numpy(pixels).permute(2, 0, 1)
    mean, std = (torch.tensor(values).view(3, 1, 1) for values in (MEAN, STD))
    images.div_(255).sub_(mean).div_(std)
    return images, torch.tensor([label for _, label in files])
