"""Pools in files and stores: how often they are read, how much is held, and what is wrong with them is said."""

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, from_logits, from_probs, select_batch
from infoacq.maximisers import RacingGreedy
from infoacq.pool import ArrayPool
from infoacq.sources import MappedFile, is_source
from infoacq.stored import StoredPool
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
POOL = dirichlet(95, 600, 6, 4, concentration=0.4)


class Counting:
    """A store that notes what is read of it."""

    def __init__(self, array: np.ndarray, chunk: int) -> None:
        self.array, self.chunks, self.reads = array, (chunk, *array.shape[1:]), []
        self.shape, self.dtype, self.ndim = array.shape, array.dtype, array.ndim

    def __getitem__(self, rows: slice) -> np.ndarray:
        self.reads.append((rows.start, rows.stop))
        return self.array[rows]


def counted_pool(p: np.ndarray = POOL) -> tuple[Counting, StoredPool]:
    store = Counting(p, 100)
    return store, from_probs(store).with_shards_of(100)


def test_greedy_reads_each_shard_once_a_pick_and_each_choice_once() -> None:
    store, pool = counted_pool()
    select_batch(pool, BatchBALD(), 4, maximiser=Greedy())
    whole = [rows for rows in store.reads if rows[1] - rows[0] == 100]
    assert sorted(whole) == sorted([(start, start + 100) for start in range(0, 600, 100)] * 4)
    assert len(store.reads) - len(whole) == 4 + 2  # the chosen; the first, for its shape


@pytest.mark.parametrize("maximiser", [LazyGreedy(), RacingGreedy()])
def test_a_pass_of_lazy_evaluation_reads_a_shard_at_most_once_and_only_what_it_must(maximiser: Any) -> None:
    # Those who can matter are in the first two shards.
    store, pool = counted_pool(np.concatenate([dirichlet(96, 150, 6, 4, 0.3), dirichlet(97, 450, 6, 4, 50.0)]))
    passes: list[list[tuple[int, int]]] = []

    def noting(function: Any, shards: Any) -> list[Any]:
        store.reads.clear()
        results = [function(shard) for shard in shards]
        passes.append(list(store.reads))
        return results

    select_batch(pool, BatchBALD(), 4, maximiser=maximiser, map=noting)
    assert sum(stop - start for start, stop in passes[0]) == 600
    for reads in passes:
        shards = [start // 100 for start, _ in reads]
        assert len(set(shards)) == len(shards)
        assert all((stop - 1) // 100 == start // 100 for start, stop in reads)
        assert reads is passes[0] or max(shards) < 2


def test_what_is_held_grows_by_the_bounds_alone(tmp_path: Path) -> None:
    """Peak memory of a selection less what 3 numbers of 8 bytes a candidate and their copies take: not the pool's."""
    peaks = {}
    for n in (10_000, 40_000):
        array = np.lib.format.open_memmap(tmp_path / f"{n}.npy", "w+", np.float32, (n, 20, 10))
        array[:] = dirichlet(n, n, 20, 10)
        array.flush()
        pool = from_probs(np.load(tmp_path / f"{n}.npy", mmap_mode="r")).with_shards_of(1_000)
        tracemalloc.start()
        select_batch(pool, BatchBALD(), 3, maximiser=LazyGreedy())
        peaks[n] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    row = 20 * 10 * 4
    assert peaks[40_000] - peaks[10_000] < 30_000 * row / 8


@pytest.mark.parametrize(
    "view",
    [
        lambda m: m,
        lambda m: m[17:230],
        lambda m: m[::-3],
        lambda m: m[5:, ::-1, ::2],
        lambda m: m.transpose(0, 2, 1)[3:9],
        lambda m: m[599:],
    ],
)
def test_a_view_of_a_mapped_file_pickles_as_its_place(view: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", POOL)
    for offset in (0, 4096 * 5 + 16):  # behind a header that is longer than a page, too
        (tmp_path / "raw").write_bytes(bytes(offset) + POOL.tobytes())
        mapped = np.memmap(tmp_path / "raw", POOL.dtype, "r", offset, POOL.shape)
        wanted = view(POOL)
        source = MappedFile.of(view(mapped))
        stored = pickle.dumps(source)
        assert len(stored) < 600
        np.testing.assert_array_equal(pickle.loads(stored)[0 : len(wanted)], wanted)


def test_what_is_not_in_the_file_is_not_taken_for_it(tmp_path: Path) -> None:
    np.save(tmp_path / "p.npy", POOL)
    private = np.load(tmp_path / "p.npy", mmap_mode="c")
    private[0] = 0.25
    for array in (private, np.load(tmp_path / "p.npy", mmap_mode="r") * 1.0, POOL):
        assert not is_source(array)
        assert isinstance(from_probs(array), ArrayPool)


def test_a_wrong_candidate_is_named_by_its_place_in_the_pool(tmp_path: Path) -> None:
    wrong = POOL.copy()
    wrong[437, 2, 1] = np.nan
    store = Counting(wrong, 100)
    with pytest.raises(ValueError, match="candidate 437, draw 2 is not finite"):
        select_batch(from_probs(store).with_shards_of(100), BALD(), 3)
    with pytest.raises(ValueError, match="candidate 437, draw 2, class 1 is nan"):
        from_logits(store).take(np.array([3, 437]))
    with pytest.raises(ValueError, match="candidate 437"):
        from_probs(store).take(np.array([599, 437]))


def test_a_file_that_is_cut_off_while_it_is_mapped_is_an_error_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "p.npy"
    np.save(path, POOL)
    pool = from_probs(np.load(path, mmap_mode="r")).with_shards_of(100)
    wanted = select_batch(POOL, BALD(), 3).indices
    assert select_batch(pool, BALD(), 3).indices == wanted
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 8)
    with pytest.raises(OSError, match=r"candidates 500 … 599 cannot be read.*has been cut off"):
        select_batch(pool, BALD(), 3)


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (POOL[0], ValueError, r"must have shape \(n, k, c\)"),
        (np.ones((5, 3, 2), dtype=np.int64), TypeError, "got int64"),
        (np.ones((0, 3, 2)), ValueError, "holds no candidates"),
    ],
)
def test_a_store_of_other_things_is_refused_unread(array: Any, error: Any, message: str, untyped: None) -> None:
    store = Counting(array, 10)
    with pytest.raises(error, match=message):
        from_probs(store)
    assert store.reads == []
