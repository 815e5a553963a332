"""EMNIST Balanced: upright pictures, names of classes, and stand-ins that say so."""

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torchvision import datasets

from reproduce.emnist import EMNIST
from reproduce.errors import UserError

CLASSES = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabdefghnqrt"


def write(path: Path, values: np.ndarray) -> None:
    """A file in the format of MNIST and EMNIST."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack(f">HBB{values.ndim}I", 0, 8, values.ndim, *values.shape)
    path.write_bytes(header + values.astype(np.uint8).tobytes())


Files = Callable[..., Path]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Write a small data set of L shapes, as EMNIST stores pictures: each column where a row would be."""

    def make(labels: list[int], images: int | None = None, side: int = 28) -> Path:
        picture = np.zeros((side, side))
        picture[4:24, 6] = picture[23, 6:16] = 255  # a stroke downwards, then one to the right
        raw = tmp_path / "EMNIST" / "raw"
        for part in ("train", "test"):
            held = np.repeat(picture.T[None], len(labels) if images is None else images, axis=0)
            write(raw / f"emnist-balanced-{part}-images-idx3-ubyte", held)
            write(raw / f"emnist-balanced-{part}-labels-idx1-ubyte", np.array(labels))
        return tmp_path

    return make


def test_pictures_stand_upright(files: Files) -> None:
    image = EMNIST().load(files([21, 21])).train_images[0, 0]
    ink = image > image.min()
    assert ink[4:24, 6].all()
    assert ink[23, 6:16].all()
    assert int(ink.sum()) == 20 + 9
    assert float(image.max()) == pytest.approx((1 - 0.1751) / 0.3332, abs=1e-4)


def test_digits_look_like_those_of_mnist(shared: Path) -> None:
    """An independent witness of the orientation: each mean digit is nearer to MNIST's as loaded than turned over."""
    mnist = datasets.MNIST(shared / "data")
    data = EMNIST().load(shared / "data")
    for digit in range(10):
        theirs = mnist.data[mnist.targets == digit].float().mean(0)
        ours = data.train_images[data.train_labels == digit, 0].mean(0)
        upright, turned = (torch.corrcoef(torch.stack([theirs.flatten(), m.flatten()]))[0, 1] for m in (ours, ours.T))
        assert upright > turned or digit in (0, 8)  # these two are much the same either way


def test_a_stand_in_is_called_one_and_normalised(shared: Path) -> None:
    data = EMNIST().load(shared / "data")
    assert data.stand_in == "EMNIST stand-in (32,900 images)"
    assert data.share == pytest.approx(32_900 / 112_800)
    assert data.train_images.shape == (32_900, 1, 28, 28)
    assert data.test_images.shape == (9_400, 1, 28, 28)
    assert float(data.train_images.mean()) == pytest.approx(0.0, abs=0.01)
    assert float(data.train_images.std()) == pytest.approx(1.0, abs=0.01)
    assert torch.bincount(data.train_labels).tolist() == [700] * 47


def test_the_official_size_is_no_stand_in(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    root = files([0, 1, 2])
    assert EMNIST().load(root).stand_in == "EMNIST stand-in (3 images)"
    monkeypatch.setattr("reproduce.emnist.TRAINING", 3)
    monkeypatch.setattr("reproduce.emnist.TEST", 3)
    data = EMNIST().load(root)
    assert (data.stand_in, data.share) == ("", 1.0)


def test_classes_have_the_names_of_the_mapping_that_comes_with_the_files(shared: Path) -> None:
    mapping = (shared / "data" / "EMNIST" / "raw" / "emnist-balanced-mapping.txt").read_text().split()
    codes = dict(zip(map(int, mapping[::2]), map(int, mapping[1::2]), strict=True))
    data = EMNIST().load(shared / "data")
    assert "".join(data.name_of(label) for label in range(47)) == CLASSES
    assert [ord(data.name_of(label)) for label in codes] == list(codes.values())


@pytest.mark.parametrize(
    ("labels", "how", "said"),
    [
        ([0, 1, 2], {"images": 2}, r"images of shape \(2, 28, 28\) with 3 labels"),
        ([0, 47], {}, "class 47, where there are 47"),
        ([0, 1], {"side": 27}, r"images of shape \(2, 27, 27\)"),
        ([], {}, "EMNIST can't be read"),
    ],
)
def test_trap_34_files_that_do_not_fit_are_an_error(
    files: Files, labels: list[int], how: dict[str, int], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        EMNIST().load(files(labels, **how))


def test_trap_34_a_missing_or_truncated_file_says_where_it_was_looked_for(files: Files, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"EMNIST/raw.*emnist-balanced-train-images-idx3-ubyte.*--data DIR"):
        EMNIST().load(tmp_path / "nowhere")
    root = files([0, 1, 2])
    path = root / "EMNIST" / "raw" / "emnist-balanced-train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserError, match="EMNIST can't be read"):
        EMNIST().load(root)
