"""Checks of a Dask cluster and of what is given to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class ClusterLostError(RuntimeError):
    """Work on a cluster was cancelled by somebody."""

    def __init__(self) -> None:
        super().__init__(
            "the work on the cluster was cancelled: its client was closed or restarted meanwhile. Connect again, "
            "distributed.Client(address), and repeat the call: the same seed gives the same batch."
        )


def connected(client: Any, client_type: Any) -> Any:
    """`client`, known to be a client of a cluster that answers.

    Raises:
        TypeError: if it is none.
        ValueError: if there is none, or it is closed or asynchronous.
    """
    if client is None:
        raise ValueError("there is no Dask client: make one, distributed.Client(address) or distributed.Client().")
    if not isinstance(client, client_type):
        raise TypeError(f"client must be a distributed.Client; got {client!r}. Make one: distributed.Client(address).")
    if client.asynchronous:
        raise ValueError("client must be synchronous; got one with asynchronous=True. Make another beside it.")
    if client.status != "running":
        raise ValueError(f"client must be connected; got one that is {client.status}. Make a new one.")
    return client


@contextmanager
def cluster_kept(client: Any) -> Iterator[None]:
    """Say so if the client was closed in the meantime, whatever Dask raises then.

    Raises:
        ClusterLostError: in place of that.
    """
    try:
        yield
    except Exception as error:
        if client.status == "running":
            raise
        raise ClusterLostError from error


def dask_pool(pool: Any, array_type: type) -> Any:
    """`pool`, known to be read from a Dask array.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(getattr(pool, "source", None), array_type):
        raise TypeError(
            f"pool must be a Dask array, or from_logits(...) of one; got {type(pool).__name__}. "
            "dask.array.from_zarr and dask.array.from_array make one; infoacq.select_batch takes arrays as they are."
        )
    return pool


def same_version(of_workers: dict[str, Any], ours: str) -> None:
    """Check that all workers have this version of infoacq.

    Raises:
        RuntimeError: if one has another, or none.
    """
    for worker, version in of_workers.items():
        if version != ours:
            theirs = f"infoacq {version}" if isinstance(version, str) else f"no infoacq ({version!r})"
            raise RuntimeError(
                f"the worker {worker} has {theirs}, this process has infoacq {ours}: what they send each other "
                f"could be misread. Install infoacq=={ours} on all workers."
            )
