"""Selections on a Dask cluster: shards are scored where their chunks are, and only gains come back.

    cluster = distributed.LocalCluster()            # or any other: client = distributed.Client(address)
    batch = infoacq.dask.select_batch(dask.array.from_zarr("s3://bucket/pool.zarr"), BatchBALD(), 10, seed=0)

A chunk is a shard. A pass sends the objective's state to the workers, and each worker sends back one gain a candidate;
predictions travel only of those that are chosen or raced against. A pool whose chunks are persisted is not read again.
"""

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, SupportsIndex

import dask
import dask.array
import distributed
import numpy as np

from infoacq import checks, select
from infoacq.maximiser import Maximiser
from infoacq.objective import Objective
from infoacq.pool import as_pool
from infoacq.progress import progress_bar
from infoacq.selection import Selection
from infoacq.stored import StoredPool, StoredShard


def select_batch(
    pool: Any,
    objective: Objective[Any],
    batch_size: int,
    *,
    client: Any = None,
    maximiser: Maximiser | None = None,
    pending: Iterable[SupportsIndex] = (),
    seed: int | None = None,
    progress: bool = True,
) -> Selection:
    """Choose the candidates to label next, on a cluster: the batch that `infoacq.select_batch` would choose.

    Workers that die are replaced by others: their shards are scored again. A shard is as large as a chunk, which a
    worker must hold; 16 to 256 MB are fine.

    Args:
        pool: a Dask array of probabilities (n, k, c), or what `from_log_probs` or `from_logits` made of one.
        objective: what a batch is worth, such as `BatchBALD()`.
        batch_size: how many candidates to choose.
        client: a `distributed.Client`; by default the current one.
        maximiser: how to choose them; by default the cheapest for the objective.
        pending: positions whose labels are being waited for.
        seed: for sampled configurations and random objectives; the same seed gives the same batch.
        progress: show a bar on stderr, which counts shards.

    Raises:
        TypeError: if `pool` is no Dask array, or another argument is of a wrong kind.
        ValueError: as `infoacq.select_batch`; if there is no client.
        OSError: if a chunk cannot be read, or kills each worker that tries; which candidates is said.
        RuntimeError: if a worker has another version of infoacq.
    """
    client = client or distributed.get_client()
    checks.same_version(client.run(_version, on_error="return"), _version())
    cluster = Cluster.of(checks.dask_pool(as_pool(pool), dask.array.Array), client)
    with progress_bar(cluster.map, shown=progress) as map:
        return select.select_batch(
            cluster.pool, objective, batch_size, maximiser=maximiser, pending=pending, seed=seed, map=map
        )


@dataclass(frozen=True, eq=False)
class Cluster:
    """The chunks of a pool, by their first candidate, and the workers that score them."""

    client: Any
    pool: StoredPool
    chunks: dict[int, Any]

    @classmethod
    def of(cls, pool: StoredPool, client: Any) -> "Cluster":
        """The pool with all draws and classes of a candidate in one chunk."""
        array = pool.source.rechunk({1: -1, 2: -1})
        cuts = StoredPool.of(array, pool.as_probs).cuts
        chunks = dict(zip(cuts[:-1].tolist(), array.to_delayed().ravel().tolist(), strict=True))
        return cls(client, StoredPool(Rows(array, client, tuple(array.shape)), pool.as_probs, cuts), chunks)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """`function` of each shard where its chunk is, or of whatever else there is to do; in order."""
        items = list(items)
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "Sending large graph"
            )  # the state goes to the scheduler once, not a shard
            # As a task and not as scattered data: a worker that dies takes it along, and it is made again.
            held = self.client.submit(_same, function, pure=False)
            futures = self.client.compute([self._task(held, item) for item in items])
        try:
            yield from self._results(items, futures)
        finally:
            self.client.cancel(futures)

    def _results(self, items: list[Any], futures: list[Any]) -> Iterator[Any]:
        """In the order of the items. What is ready is fetched together: each fetching takes the scheduler's time."""
        place, ready, following = {future.key: i for i, future in enumerate(futures)}, dict[int, Any](), 0
        for batch in distributed.as_completed(futures).batches():
            found = self.client.gather({place[future.key]: future for future in batch}, errors="skip")
            for future in batch:
                at = place[future.key]
                ready[at] = _result(items[at], future, found[at])
                future.release()  # the worker need not keep it
            while following in ready:
                yield ready.pop(following)
                following += 1

    def _task(self, function: Any, item: Any) -> Any:
        if isinstance(item, StoredShard):
            bare = replace(item, source=Chunk(np.empty(0), item.start, self.pool.source.shape))
            return dask.delayed(_score, pure=False)(function, bare, self.chunks[item.start], _version())
        return dask.delayed(_call, pure=False)(function, item)


@dataclass(frozen=True, eq=False)
class Rows:
    """A Dask array whose rows are computed by this client's workers, and sent here."""

    array: Any
    client: Any
    shape: tuple[int, ...]

    def __getitem__(self, rows: slice) -> np.ndarray:
        found: np.ndarray = self.client.compute(self.array[rows]).result()
        return found

    def __repr__(self) -> str:
        return repr(self.array)


@dataclass(frozen=True, eq=False)
class Chunk:
    """A chunk in a worker's memory, asked by the positions of the whole pool."""

    array: np.ndarray
    start: int
    shape: tuple[int, ...]

    def __getitem__(self, rows: slice) -> np.ndarray:
        return self.array[rows.start - self.start : rows.stop - self.start]


@dataclass(frozen=True)
class Failed:
    """An error of ours on a worker. One that is raised there instead came from reading the chunk."""

    error: Exception


@functools.cache
def _version() -> str:
    return metadata.version("infoacq")


def _same(function: Any) -> Any:
    return function


def _call(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except Exception as error:
        return Failed(error)


def _score(function: Callable[[Any], Any], shard: StoredShard, chunk: Any, version: str) -> Any:
    """What `function` says of a shard, on the worker that has its chunk."""
    try:
        # A worker may have come after the others were asked.
        checks.same_version({distributed.get_worker().address: _version()}, version)
        source = replace(shard.source, array=np.asarray(chunk))
        return function(replace(shard, source=source))
    except Exception as error:
        return Failed(error)


def _result(item: Any, future: Any, found: Any) -> Any:
    if future.status == "error":
        error = future.exception()
        if isinstance(item, StoredShard):
            raise checks.unreadable(item.start, item.stop, "a chunk of the Dask array", error) from error
        raise error
    if isinstance(found, Failed):
        raise found.error
    return found
