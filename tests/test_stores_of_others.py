"""Zarr and Dask: what their stores can have wrong, said in our words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, from_logits, from_probs, select_batch
from tests.predictions import dirichlet

POOL = dirichlet(96, 40, 4, 3)


def made(zarr: Any, path: Path) -> Any:
    array = zarr.create_array(path, shape=POOL.shape, dtype=POOL.dtype, chunks=(10, 4, 3))
    array[:] = POOL
    return array


def test_a_zarr_store_that_lacks_a_chunk_is_refused(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    array = made(zarr, tmp_path / "p.zarr")
    (tmp_path / "p.zarr" / "c" / "2" / "0" / "0").unlink()
    for read_as in (from_probs, from_logits):
        with pytest.raises(ValueError, match=r"1 of the 4 chunks of .* are missing"):
            read_as(array)


def test_a_chunk_that_goes_missing_later_is_named(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    pool = from_probs(made(zarr, tmp_path / "p.zarr")).with_shards_of(10)
    (tmp_path / "p.zarr" / "c" / "2" / "0" / "0").unlink()
    with pytest.raises(ValueError, match="candidate 20, draw 0 is 0 for every class"):
        select_batch(pool, BALD(), 3)


@pytest.mark.parametrize("keep", [0, 5, 60])
def test_a_zarr_chunk_that_is_cut_off_is_named(keep: int, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    pool = from_probs(made(zarr, tmp_path / "p.zarr")).with_shards_of(10)
    chunk = tmp_path / "p.zarr" / "c" / "3" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:keep])
    with pytest.raises(OSError, match=r"candidates 30 … 39 cannot be read from <Array .*p.zarr"):
        select_batch(pool, BALD(), 3)


def test_a_dask_array_whose_blocks_are_not_what_it_says() -> None:
    da, dask = pytest.importorskip("dask.array"), pytest.importorskip("dask")
    blocks = [
        da.from_delayed(dask.delayed(POOL[start : start + 10, :draws]), shape=(10, 4, 3), dtype=POOL.dtype)
        for start, draws in ((0, 4), (10, 4), (20, 2))
    ]
    with pytest.raises(ValueError, match=r"from candidate 20 on must have shape .*= \(10, 4, 3\).*got \(10, 2, 3\)"):
        select_batch(da.concatenate(blocks), BALD(), 3)


def test_a_dask_array_of_unknown_length_and_one_that_fails() -> None:
    da = pytest.importorskip("dask.array")
    array = da.from_array(POOL, chunks=(10, 4, 3))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        from_probs(array[array[:, 0, 0] > 0.5])

    def failing(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        if block_info and block_info[0]["chunk-location"][0] == 1:
            raise RuntimeError("the disk is gone")
        return block

    broken = array.map_blocks(failing, dtype=POOL.dtype)
    with pytest.raises(OSError, match=r"candidates 10 … 19 cannot be read .*RuntimeError: the disk is gone"):
        select_batch(broken, BALD(), 3)
