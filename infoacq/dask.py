"""Selections on a Dask cluster: shards are scored where their chunks are, and only gains come back.

    cluster = distributed.LocalCluster()            # or any other: client = distributed.Client(address)
    batch = infoacq.dask.select_batch(dask.array.from_zarr("s3://bucket/pool.zarr"), BatchBALD(), 10, seed=0)

A chunk is a shard. A pass sends the objective's state to the workers, and each worker sends back one gain a candidate;
predictions travel only of those that are chosen or raced against. A pool whose chunks are persisted is not read again.
"""

from collections.abc import Iterable
from importlib import metadata
from typing import Any, SupportsIndex

import dask.array
import distributed

from infoacq import checks, select
from infoacq.cluster import Cluster, version
from infoacq.maximiser import Maximiser
from infoacq.objective import Objective
from infoacq.pool import as_pool
from infoacq.progress import progress_bar
from infoacq.selection import Selection


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

    Workers that die are replaced by others: their shards are scored again. A cluster without workers is waited for. A
    shard is as large as a chunk, which a worker must hold; 16 to 256 MB are fine.

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
        TypeError: if `pool` is no Dask array, `client` no client, or another argument is of a wrong kind.
        ValueError: as `infoacq.select_batch`; if there is no client, or one that is closed.
        OSError: if a chunk cannot be read, or kills each worker that tries; which candidates is said.
        RuntimeError: if a worker has another version of infoacq, or the client is closed or restarted meanwhile.
    """
    client = checks.connected(client or _current(), distributed.Client)
    chunks = checks.dask_pool(as_pool(pool), dask.array.Array)
    # By a function that workers have even without infoacq.
    checks.same_version(client.run(metadata.version, "infoacq", on_error="return"), version())
    cluster = Cluster.of(chunks, client)
    with progress_bar(cluster.map, shown=progress) as map, checks.cluster_kept(client):
        return select.select_batch(
            cluster.pool, objective, batch_size, maximiser=maximiser, pending=pending, seed=seed, map=map
        )


def _current() -> Any:
    try:
        return distributed.get_client()
    except ValueError:  # Dask's word for none
        return None
