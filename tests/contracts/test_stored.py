"""Wherever predictions lie, in memory or in a file or store of any cut, the batch is the same."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BatchBALD, Greedy, from_log_probs, from_logits, from_probs, select_batch
from infoacq.stored import StoredPool
from tests.contracts.table import OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import dirichlet

POOL = dirichlet(91, 30, 4, 3, concentration=0.5)
SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
STORES = ["mapped", "zarr", "zarr-sharded", "dask"]


def stored(p: np.ndarray, kind: str, folder: Path) -> Any:
    """`p` in a store, in chunks of 4 or 5 candidates that do not end where it does."""
    if kind == "mapped":
        np.save(folder / "p.npy", p)
        return np.load(folder / "p.npy", mmap_mode="r")
    if kind == "dask":
        return pytest.importorskip("dask.array").from_array(p, chunks=((4, 7, 1, len(p) - 12), 2, 3))
    zarr = pytest.importorskip("zarr")
    chunks = {"chunks": (2, 4, 3), "shards": (4, 4, 3)} if kind == "zarr-sharded" else {"chunks": (5, 3, 2)}
    array = zarr.create_array(folder / "p.zarr", shape=p.shape, dtype=p.dtype, **chunks)
    array[:] = p
    return zarr.open_array(folder / "p.zarr", mode="r")


def assert_same(got: Any, wanted: Any) -> None:
    assert got.indices == wanted.indices
    np.testing.assert_allclose(got.gains, wanted.gains, atol=1e-12)
    assert got.evaluations == wanted.evaluations


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_every_maximiser_on_a_mapped_file(row: ObjectiveRow, maximiser: Any, tmp_path: Path) -> None:
    pool = from_probs(stored(POOL, "mapped", tmp_path)).with_shards_of(4)
    assert isinstance(pool, StoredPool)
    wanted = select_batch(from_probs(POOL).with_shards_of(4), row.objective, 5, maximiser=maximiser, seed=0)
    assert_same(select_batch(pool, row.objective, 5, maximiser=maximiser, seed=0), wanted)


@SATURATING
@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_every_objective_on_every_store(row: ObjectiveRow, kind: str, tmp_path: Path) -> None:
    wanted = select_batch(POOL, row.objective, 5, pending=[7, 2], seed=0)
    assert_same(select_batch(stored(POOL, kind, tmp_path), row.objective, 5, pending=[7, 2], seed=0), wanted)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("read_as", "given"), [(from_log_probs, np.log(POOL)), (from_logits, np.log(POOL) + 3.0)])
def test_log_probabilities_and_logits_are_turned_as_they_are_read(
    read_as: Any, given: np.ndarray, kind: str, dtype: str, tmp_path: Path
) -> None:
    given = given.astype(dtype)
    pool = read_as(stored(given, kind, tmp_path))
    np.testing.assert_array_equal(pool.take(np.arange(30)).predictions, read_as(given).predictions)
    selection = select_batch(pool, BatchBALD(20), 5, seed=1)
    assert selection.indices == select_batch(read_as(given), BatchBALD(20), 5, seed=1).indices


@pytest.mark.parametrize("kind", STORES)
def test_candidates_are_taken_in_the_order_asked_for(kind: str, tmp_path: Path) -> None:
    pool = from_probs(stored(POOL, kind, tmp_path))
    for index in ([17, 3, 29, 0, 3], [5], list(range(29, -1, -1))):
        taken = pool.take(np.array(index))
        np.testing.assert_array_equal(taken.index, index)
        np.testing.assert_array_equal(taken.predictions, POOL[index])
    shards = [shard.load() for shard in pool.shards()]
    np.testing.assert_array_equal(np.concatenate([s.index for s in shards]), np.arange(30))
    np.testing.assert_array_equal(np.concatenate([s.predictions for s in shards]), POOL)


def test_shards_end_where_chunks_do(tmp_path: Path) -> None:
    p = np.full((40_000, 50, 10), 0.1, dtype=np.float32)  # 2,000 bytes a candidate, 64 MiB hold 33,554
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "p.zarr", shape=p.shape, dtype=p.dtype, chunks=(3_000, 50, 10))
    array[:] = p
    assert from_probs(array).cuts.tolist() == [0, 33_000, 40_000]
    assert from_probs(stored(POOL, "zarr-sharded", tmp_path / "s")).with_shards_of(8).cuts.tolist() == [
        0,
        8,
        16,
        24,
        30,
    ]
    assert from_probs(stored(POOL, "dask", tmp_path)).cuts.tolist() == [0, 4, 11, 12, 30]


@pytest.mark.parametrize("kind", STORES[:3])
def test_other_processes_read_for_themselves(kind: str, tmp_path: Path) -> None:
    """Two workers that start with nothing of this process: they are sent a path."""
    array = stored(POOL, kind, tmp_path)
    wanted = select_batch(POOL, BatchBALD(), 4, seed=0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert_same(select_batch(array, BatchBALD(), 4, seed=0, map=executor.map), wanted)
        assert_same(select_batch(array, BatchBALD(), 4, maximiser=Greedy(), map=executor.map), greedy(4))


def greedy(size: int) -> Any:
    return select_batch(POOL, BatchBALD(), size, maximiser=Greedy())
