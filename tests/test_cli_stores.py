"""The `infoacq` command as a process on Zarr stores and on files that are mapped."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, select_batch
from tests.test_cli import POOL, csv_columns, run

zarr = pytest.importorskip("zarr", reason="Zarr is not installed: pip install 'infoacq[zarr]'")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store of one array, and a group of two."""
    array = zarr.create_array(tmp_path / "pool.zarr", shape=POOL.shape, dtype=POOL.dtype, chunks=(7, 8, 3))
    array[:] = POOL
    group = zarr.create_group(tmp_path / "runs.zarr")
    for name in ("early", "late"):
        group.create_array(name, shape=POOL.shape, dtype=POOL.dtype, chunks=(7, 8, 3))[:] = POOL
    return tmp_path


def test_a_store_gives_what_memory_gives(folder: Path) -> None:
    wanted = select_batch(POOL, BatchBALD(), 5, seed=0)
    for arguments in (["pool.zarr"], [(folder / "pool.zarr").as_uri()], ["runs.zarr", "--array", "late"]):
        done = run("select", *arguments, "--batch-size", 5, folder=folder)
        assert (done.returncode, done.stderr) == (0, "")
        assert csv_columns(done.stdout)[0] == wanted.indices
        np.testing.assert_allclose(csv_columns(done.stdout)[1], wanted.gains, atol=1e-6)


def test_the_store_that_predict_probs_writes(folder: Path) -> None:
    from infoacq.posteriors import zarr_rows

    written = zarr_rows.create(folder / "scored.zarr", *POOL.shape, chunk=7, dtype="float32")
    written[:] = POOL
    done = run("select", "scored.zarr", "--batch-size", 5, folder=folder)  # beside the checksums that it holds
    assert csv_columns(done.stdout)[0] == select_batch(POOL, BatchBALD(), 5, seed=0).indices


def test_the_bar_moves_and_the_batch_goes_to_a_file(folder: Path) -> None:
    done = run("select", "pool.zarr", "--batch-size", 3, "--progress", "--out", "batch.csv", folder=folder)
    assert done.returncode == 0
    assert "shards" in done.stderr
    assert csv_columns((folder / "batch.csv").read_text())[0] == select_batch(POOL, BatchBALD(), 3, seed=0).indices


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.zarr"], "No such file or directory: 'gone.zarr'"),
        (["runs.zarr"], "runs.zarr holds early, late: choose one with --array NAME"),
        (["runs.zarr", "--array", "mid"], "runs.zarr holds no array 'mid', but early, late"),
        (["cut.zarr"], "1 of the 5 chunks of"),
        (["spoilt.zarr", "--objective", "bald"], "candidates 0 … 29 cannot be read from"),
        (["words.zarr"], "words.zarr cannot be opened as a Zarr store"),
        (["nowhere://pool.zarr"], "nowhere://pool.zarr cannot be opened as a Zarr store"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_is_wrong_with_a_store_is_one_line(folder: Path, arguments: list[str], message: str) -> None:
    for name in ("cut.zarr", "spoilt.zarr"):
        (zarr.create_array(folder / name, shape=POOL.shape, dtype=POOL.dtype, chunks=(7, 8, 3)))[:] = POOL
    (folder / "cut.zarr" / "c" / "3" / "0" / "0").unlink()
    chunk = folder / "spoilt.zarr" / "c" / "4" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:9])
    (folder / "words.zarr").mkdir()
    (folder / "words.zarr" / "zarr.json").write_text("three")
    done = run("select", *arguments, "--batch-size", 3, "--out", "batch.csv", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("infoacq: error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert not (folder / "batch.csv").exists()


def test_any_store_of_fsspec() -> None:
    """In the memory of this process, which no path of the disk leads to."""
    pytest.importorskip("fsspec", reason="fsspec is not installed: pip install 'infoacq[zarr]'")
    from infoacq.files import read_array

    array = zarr.create_array("memory://bucket/pool.zarr", shape=POOL.shape, dtype=POOL.dtype, chunks=(7, 8, 3))
    array[:] = POOL
    for pool in (array, read_array("memory://bucket/pool.zarr")):
        assert select_batch(pool, BatchBALD(), 4, seed=0).indices == select_batch(POOL, BatchBALD(), 4, seed=0).indices
    assert not Path("bucket").exists()


def test_a_file_that_is_larger_than_is_read_whole_is_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], untyped: None
) -> None:
    from infoacq import cli, files

    np.save(tmp_path / "p.npy", POOL)
    assert not isinstance(files.read_array(str(tmp_path / "p.npy")), np.memmap)
    monkeypatch.setattr(files, "READ_WHOLE", 100)
    assert isinstance(files.read_array(str(tmp_path / "p.npy")), np.memmap)
    assert cli.main(["select", str(tmp_path / "p.npy"), "--objective", "bald", "--batch-size", "3"]) == 0
    shown: Any = capsys.readouterr()
    assert csv_columns(shown.out)[0] == select_batch(POOL, BALD(), 3).indices
