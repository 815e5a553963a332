"""CINIC-10: folders of classes, images as they are on disk, and how they are changed for training."""

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from reproduce.augmentation import crop_and_flip
from reproduce.cinic10 import CINIC10, MEAN, STD
from reproduce.errors import UserError

CLASSES = ("cat", "dog")


def colour(part: int, label: int, number: int) -> tuple[int, int, int]:
    return 60 * part + 10, 100 * label + 20, 40 * number


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Images of one colour: which one tells the part, the class and the number."""
    for part, name in enumerate(("train", "valid", "test")):
        for label, of in enumerate(CLASSES):
            (tmp_path / "CINIC-10" / name / of).mkdir(parents=True)
            for number in range(3 - part):
                image = Image.new("RGB", (32, 32), colour(part, label, number))
                image.save(tmp_path / "CINIC-10" / name / of / f"{number:04}.png")
    return tmp_path


def test_train_and_valid_are_one_set(folders: Path) -> None:
    data = CINIC10().load(folders)
    expected = [(part, label, n) for part in (0, 1) for label in (0, 1) for n in range(3 - part)]
    found = data.train_images * torch.tensor(STD).view(3, 1, 1) + torch.tensor(MEAN).view(3, 1, 1)
    assert [tuple(c) for c in (found[:, :, 5, 9] * 255).round().int().tolist()] == [colour(*e) for e in expected]
    assert data.train_labels.tolist() == [label for _, label, _ in expected]
    seen = (data.test_images * torch.tensor(STD).view(3, 1, 1) + torch.tensor(MEAN).view(3, 1, 1))[:, :, 5, 9]
    at = [tuple(c) for c in (seen * 255).round().int().tolist()]
    assert at == [colour(2, label, 0) for label in data.test_labels.tolist()]
    assert sorted(data.test_labels.tolist()) == [0, 1]
    assert data.classes == CLASSES
    assert data.stand_in == "CINIC-10 stand-in (10 images)"
    assert data.share == pytest.approx(10 / 180_000)


def test_the_shared_stand_in_is_called_one(shared: Path) -> None:
    data = CINIC10().load(shared / "data")
    assert data.stand_in == "CINIC-10 stand-in (6,000 images)"
    assert torch.bincount(data.train_labels).tolist() == [600] * 10
    assert torch.bincount(data.test_labels).tolist() == [200] * 10
    assert min(torch.bincount(data.test_labels[:200], minlength=10)) > 5  # its beginning, which is all that smoke reads
    assert CINIC10().load(shared / "data").test_labels.tolist() == data.test_labels.tolist()
    first = np.array(Image.open(shared / "data" / "CINIC-10" / "train" / "airplane" / "0000.jpg"), dtype=float)
    normalised = (first / 255 - MEAN) / STD
    assert data.train_images[0].permute(1, 2, 0).numpy() == pytest.approx(normalised, abs=1e-5)


def test_trap_34_what_is_missing_or_damaged_is_told(folders: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"CINIC-10 can't be read from .*CINIC-10/train/CLASS/.*--data DIR"):
        CINIC10().load(tmp_path / "nowhere")
    path = folders / "CINIC-10" / "valid" / "dog" / "0001.png"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match="CINIC-10 can't be read"):
        CINIC10().load(folders)
    Image.new("RGB", (31, 32)).save(path)
    with pytest.raises(UserError, match=r"0001\.png has 31x32 pixels and not 32x32"):
        CINIC10().load(folders)
    path.write_bytes(whole)
    (folders / "CINIC-10" / "test" / "dog").rename(folders / "CINIC-10" / "test" / "wolf")
    with pytest.raises(UserError, match="train, valid and test have different classes: cat, dog; cat, dog; cat, wolf"):
        CINIC10().load(folders)


def test_crops_and_flips_are_moves_and_mirror_images_and_nothing_else() -> None:
    images = torch.arange(1.0, 3 * 32 * 32 + 1).view(1, 3, 32, 32).repeat(400, 1, 1, 1)
    torch.manual_seed(0)
    changed = crop_and_flip(images)
    padded = torch.nn.functional.pad(images[0], (4, 4, 4, 4))
    possible = {
        (padded[:, dy : dy + 32, dx : dx + 32].flip(2) if flip else padded[:, dy : dy + 32, dx : dx + 32])
        .numpy()
        .tobytes(): (dy, dx, flip)
        for dy in range(9)
        for dx in range(9)
        for flip in (False, True)
    }
    seen = [possible[image.contiguous().numpy().tobytes()] for image in changed]  # a KeyError is another change
    assert {dy for dy, _, _ in seen} == {dx for _, dx, _ in seen} == set(range(9))
    mirrored = sum(flip for _, _, flip in seen)
    assert abs(mirrored - 200) < 4 * (400 * 0.25) ** 0.5  # four standard errors
    torch.manual_seed(0)
    assert torch.equal(crop_and_flip(images), changed)
