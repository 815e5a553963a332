"""EMNIST Balanced: 47 classes of handwritten digits and letters, upright and normalised."""

from dataclasses import dataclass
from pathlib import Path

from jaxtyping import Float, Int
from torch import Tensor

from reproduce.data import DOWNLOADS, DataSet
from reproduce.errors import UserError

CLASSES = 47
TRAINING, TEST = 112_800, 18_800  # images of the official split
MEAN, STD = 0.1751, 0.3332  # of its training pixels


@dataclass(frozen=True)
class EMNIST:
    """The balanced split; a smaller one in the same format is a stand-in, and called so wherever it is shown.

    Source: Cohen et al. (2017), EMNIST: an extension of MNIST to handwritten letters.
    """

    def load(self, root: Path | None) -> DataSet:
        """EMNIST normalised to mean 0 and standard deviation 1.

        Raises:
            UserError: the files are not under `root`, or are damaged.
        """
        where = DOWNLOADS if root is None else root
        try:
            images, labels, classes = _read(where, train=True, download=root is None)
            test_images, test_labels, _ = _read(where, train=False, download=root is None)
        except (AssertionError, ValueError, OSError, RuntimeError) as error:
            raise UserError(
                f"EMNIST can't be read from {where}/EMNIST/raw ({error or 'a file is damaged'}). Give the folder that"
                " holds EMNIST/raw/emnist-balanced-train-images-idx3-ubyte and its three companions with --data DIR,"
                f" or leave --data out to download them to {DOWNLOADS}."
            ) from error
        official = (len(labels), len(test_labels)) == (TRAINING, TEST)
        return DataSet(
            images,
            labels,
            test_images,
            test_labels,
            len(labels),
            classes,
            len(labels) / TRAINING,
            "" if official else f"EMNIST stand-in ({len(labels):,} images)",
        )


def _read(
    where: Path, *, train: bool, download: bool
) -> tuple[Float[Tensor, "n 1 28 28"], Int[Tensor, " n"], tuple[str, ...]]:
    from torchvision import datasets

    data = datasets.EMNIST(where, split="balanced", train=train, download=download)
    if data.data.shape[1:] != (28, 28) or len(data.data) != len(data.targets) or not len(data.targets):
        raise ValueError(f"images of shape {tuple(data.data.shape)} with {len(data.targets)} labels")
    if int(data.targets.max()) >= len(data.classes):
        raise ValueError(f"class {int(data.targets.max())}, where there are {len(data.classes)}")
    upright = data.data.transpose(1, 2)[:, None]  # the files hold columns where MNIST's hold rows
    return (upright.float() / 255 - MEAN) / STD, data.targets, tuple(data.classes)
