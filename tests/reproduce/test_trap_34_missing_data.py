"""Trap 34: missing or damaged data are told before any training, with where they were looked for and the way out."""

import struct
from pathlib import Path

import pytest

from reproduce.cli import main
from reproduce.data import MNIST
from reproduce.errors import UserError

NAMES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def idx(path: Path, shape: tuple[int, ...], content: int) -> None:
    """A file in MNIST's format that says it has this shape and holds `content` bytes."""
    path.write_bytes(struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape) + bytes(content))


def files(root: Path, images: int, held: int) -> None:
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in NAMES:
        shape = (images, 28, 28) if "images" in name else (images,)
        idx(raw / name, shape, held * 28 * 28 if "images" in name else held)


def test_trap_34_a_missing_data_set_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        MNIST().load(tmp_path)
    assert f"{tmp_path}/MNIST/raw" in str(error.value)
    assert "train-images-idx3-ubyte" in str(error.value)
    assert "--data DIR" in str(error.value)


def test_trap_34_a_truncated_file_is_an_error(tmp_path: Path) -> None:
    files(tmp_path, images=60_000, held=5)
    with pytest.raises(UserError, match="can't be read"):
        MNIST().load(tmp_path)


def test_trap_34_whole_files_of_too_few_images_are_an_error(tmp_path: Path) -> None:
    files(tmp_path, images=5, held=5)
    with pytest.raises(UserError, match="5 images and 5 labels instead of 60000"):
        MNIST().load(tmp_path)


def test_trap_34_the_command_says_it_in_one_line_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    assert main(["run", "mnist", "--data", str(tmp_path), "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("reproduce: MNIST can't be read")
    assert said.err.count("\n") == 1
    assert not out.exists()
