"""The data sets of the experiments: images normalised, copies replicated, noise added once and for all.

torchvision and scikit-learn take seconds to import, and a run needs one of them: each is imported where it is used.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from reproduce.errors import UserError

DOWNLOADS = Path.home() / ".cache" / "infoacq"


@dataclass(frozen=True)
class DataSet:
    """Normalised images and their classes; the training images are the pool that points are acquired from.

    Attributes:
        originals: how many different training images there are: image i is a copy of image i % originals.
        classes: their names; empty: their numbers.
        share: how large the training set is, the official one being 1; splits are scaled by it.
        stand_in: what results are labelled with, where the data set is not the official one.
    """

    train_images: Float[Tensor, "n channels height width"]
    train_labels: Int[Tensor, " n"]
    test_images: Float[Tensor, "t channels height width"]
    test_labels: Int[Tensor, " t"]
    originals: int
    classes: tuple[str, ...] = ()
    share: float = 1.0
    stand_in: str = ""

    def name_of(self, label: int) -> str:
        """The name of a class."""
        return self.classes[label] if self.classes else str(label)


@runtime_checkable
class Source(Protocol):
    """What an experiment asks its data from."""

    def load(self, root: Path | None) -> DataSet:
        """The data set found under `root`, or downloaded where `root` is None."""
        ...


@dataclass(frozen=True)
class MNIST:
    """Repeated MNIST; MNIST itself with one copy and no noise."""

    copies: int = 1
    noise: float = 0.0

    def load(self, root: Path | None) -> DataSet:
        """MNIST normalised to mean 0 and standard deviation 1, its training images then replicated.

        Raises:
            UserError: the files are not under `root`, or are damaged.
        """
        images, labels = _read_mnist(root, train=True)
        test_images, test_labels = _read_mnist(root, train=False)
        return DataSet(
            replicate(images, self.copies, self.noise),
            labels.repeat(self.copies),
            test_images,
            test_labels,
            len(labels),
        )


@dataclass(frozen=True)
class Digits:
    """Repeated digits: the 1,797 8x8 digits that come with scikit-learn, 500 of them the test set."""

    copies: int = 1
    noise: float = 0.0

    def load(self, root: Path | None) -> DataSet:
        """Digits, normalised with the mean and standard deviation of the training pixels; no file is read."""
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        pixels, labels = load_digits(return_X_y=True)
        train, test, train_labels, test_labels = train_test_split(
            pixels, labels, test_size=500, stratify=labels, random_state=0
        )
        images, test_images = (
            torch.tensor((part - train.mean()) / train.std(), dtype=torch.float32).view(-1, 1, 8, 8)
            for part in (train, test)
        )
        return DataSet(
            replicate(images, self.copies, self.noise),
            torch.tensor(train_labels).repeat(self.copies),
            test_images,
            torch.tensor(test_labels),
            len(train_labels),
        )


def replicate(
    images: Float[Tensor, "n channels height width"], copies: int, noise: float
) -> Float[Tensor, "replicas channels height width"]:
    """`copies` of the images one after the other, each pixel with Gaussian noise of its own.

    Image i of copy r stands at r * n + i. Its noise is drawn here, once, from a seed that is made of r alone:
    no worker, epoch or trial changes it, and a data set with fewer copies is the beginning of one with more.
    """
    out = images.repeat(copies, 1, 1, 1)
    if noise == 0.0:
        return out
    for copy, block in enumerate(torch.split(out, len(images))):
        digest = hashlib.sha256(f"replica/{copy}".encode()).digest()
        generator = torch.Generator().manual_seed(int.from_bytes(digest[:8], "big") >> 1)
        block += noise * torch.randn(block.shape, generator=generator)
    return out


def _read_mnist(root: Path | None, *, train: bool) -> tuple[Float[Tensor, "n 1 28 28"], Int[Tensor, " n"]]:
    from torchvision import datasets

    where = DOWNLOADS if root is None else root
    expected = 60_000 if train else 10_000
    try:
        data = datasets.MNIST(where, train=train, download=root is None)
        if len(data.data) != expected or len(data.targets) != expected:
            raise ValueError(f"{len(data.data)} images and {len(data.targets)} labels instead of {expected}")
    except (AssertionError, ValueError, OSError, RuntimeError) as error:
        raise UserError(
            f"MNIST can't be read from {where}/MNIST/raw ({error or 'a file is damaged'}). Give the folder"
            " that holds MNIST/raw/train-images-idx3-ubyte and its three companions with --data DIR, or"
            f" leave --data out to download them to {DOWNLOADS}."
        ) from error
    return (data.data[:, None].float() / 255 - 0.1307) / 0.3081, data.targets
