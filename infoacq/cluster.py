"""The chunks of a pool on a Dask cluster: shards are scored where their chunks are, and only answers come back."""

import functools
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any

import dask
import distributed
import numpy as np

from infoacq import checks
from infoacq.stored import StoredPool, StoredShard


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
        starts = np.cumsum([0, *array.chunks[0][:-1]]).tolist()
        blocks = zip(starts, array.chunks[0], array.to_delayed().ravel().tolist(), strict=True)
        chunks = {start: block for start, size, block in blocks if size}
        cuts = StoredPool.of(array, pool.as_probs).cuts
        return cls(client, StoredPool(Rows(array, client, tuple(array.shape)), pool.as_probs, cuts), chunks)

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """`function` of each shard where its chunk is, or of whatever else there is to do; in order."""
        items = list(items)
        with warnings.catch_warnings():
            # The state goes to the scheduler once, not a shard.
            warnings.filterwarnings("ignore", "Sending large graph")
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
            return dask.delayed(_score, pure=False)(function, bare, self.chunks[item.start], version())
        return dask.delayed(_call, pure=False)(function, item)


@dataclass(frozen=True, eq=False)
class Rows:
    """A Dask array whose rows are computed by this client's workers, and sent here."""

    array: Any
    client: Any
    shape: tuple[int, ...]

    def __getitem__(self, rows: slice) -> np.ndarray:
        try:
            found: np.ndarray = self.client.compute(self.array[rows]).result()
        except distributed.CancelledError as error:
            raise checks.ClusterLostError from error
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
def version() -> str:
    """The version of infoacq in this process."""
    return metadata.version("infoacq")


def _same(function: Any) -> Any:
    return function


def _call(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except Exception as error:
        return Failed(error)


def _score(function: Callable[[Any], Any], shard: StoredShard, chunk: Any, wanted: str) -> Any:
    """What `function` says of a shard, on the worker that has its chunk."""
    try:
        # A worker may have come after the others were asked.
        checks.same_version({distributed.get_worker().address: version()}, wanted)
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
    if future.status != "finished":
        raise checks.ClusterLostError
    if isinstance(found, Failed):
        raise found.error
    return found
