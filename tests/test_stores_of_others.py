"""Zarr and Dask: what their stores can have wrong, said in our words."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, from_logits, from_probs, select_batch
from infoacq.maximisers import SieveStreaming, TwoRounds
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


def impossible_class() -> np.ndarray:
    """Of the first 20 candidates one class is ruled out under every draw: its own chunks hold zeros alone."""
    p = POOL.copy()
    p[:20, :, 1] = 0.0
    return p / p.sum(axis=-1, keepdims=True)


def test_zeros_that_zarr_leaves_out_are_not_taken_for_missing(tmp_path: Path) -> None:
    zarr, p = pytest.importorskip("zarr"), impossible_class()
    array = zarr.create_array(tmp_path / "p.zarr", shape=p.shape, dtype=p.dtype, chunks=(10, 4, 1))
    array[:] = p
    assert array.nchunks_initialized == array.nchunks - 2
    assert select_batch(array, BALD(), 5).indices == select_batch(p, BALD(), 5).indices
    (tmp_path / "p.zarr" / "c" / "2" / "0" / "1").unlink()
    with pytest.raises(ValueError, match="candidate 20, draw 0 sums to"):
        select_batch(array, BALD(), 5)
    with pytest.raises(ValueError, match=r"3 of the 12 chunks of .* are missing.*write_empty_chunks"):
        from_logits(array)


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


def test_chunks_of_a_dask_array_that_hold_nobody() -> None:
    da = pytest.importorskip("dask.array")
    wanted = np.ones(40, dtype=bool)
    wanted[:10] = wanted[20:30] = False
    array = da.from_array(POOL, chunks=(10, 4, 3))[da.from_array(wanted, chunks=10)].compute_chunk_sizes()
    assert array.chunks[0] == (0, 10, 0, 10)
    for maximiser in (None, TwoRounds(), SieveStreaming()):
        of_memory = select_batch(from_probs(POOL[wanted]).with_shards_of(10), BatchBALD(), 3, maximiser=maximiser)
        assert select_batch(array, BatchBALD(), 3, maximiser=maximiser).indices == of_memory.indices


@pytest.mark.parametrize("chunks", [(1, 4, 3), (39, 4, 3), (40, 4, 3), (64, 4, 3), (7, 1, 3), (7, 3, 2), (11, 4, 1)])
@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8"])
def test_whatever_the_chunks_and_the_order_of_bytes(chunks: tuple[int, ...], dtype: str, tmp_path: Path) -> None:
    zarr, da = pytest.importorskip("zarr"), pytest.importorskip("dask.array")
    p = POOL.astype(dtype)
    array = zarr.create_array(tmp_path / "p.zarr", shape=p.shape, dtype=p.dtype, chunks=chunks)
    array[:] = p
    wanted = select_batch(p, BatchBALD(), 4, pending=[39, 0], seed=1)
    for store in (array, da.from_zarr(array), from_probs(array).with_shards_of(9)):
        got = select_batch(store, BatchBALD(), 4, pending=[39, 0], seed=1)
        assert got.indices == wanted.indices
        np.testing.assert_allclose(got.gains, wanted.gains, atol=1e-6)


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [((39, 3, 2), np.nan, "candidate 39, draw 3 is not finite"), ((33, 1, 0), 1.25, "candidate 33, draw 1 sums to")],
)
def test_the_wrong_row_is_named_in_the_last_chunk(at: Any, value: float, message: str, tmp_path: Path) -> None:
    zarr, da = pytest.importorskip("zarr"), pytest.importorskip("dask.array")
    array = zarr.create_array(tmp_path / "p.zarr", shape=POOL.shape, dtype="float16", chunks=(9, 4, 3))
    array[:] = POOL.astype(np.float16)
    array[at] = value
    for store in (array, da.from_zarr(array), from_probs(array).with_shards_of(9)):
        for maximiser in (None, TwoRounds()):
            with pytest.raises(ValueError, match=message):
                select_batch(store, BatchBALD(), 4, maximiser=maximiser)
