"""A cluster of two processes, and real stores to choose from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.predictions import dirichlet

POOL = dirichlet(191, 300, 6, 4, concentration=0.4).astype(np.float32)


SECONDS = 120  # a worker takes seconds to start


@contextmanager
def two_workers() -> Iterator[Any]:
    """With a process each, which are started anew when they die."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'infoacq[dask]'")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as started:
        yield started


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    import distributed

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=SECONDS)
        yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """For tests that leave its workers alive."""
    with two_workers() as started:
        yield started


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with connected(cluster) as client:
        yield client


@pytest.fixture
def mortal() -> Iterator[Any]:
    """The client of a cluster for one test that kills workers: Dask gives up one that is killed while it starts."""
    with two_workers() as started, connected(started) as client:
        yield client


@pytest.fixture
def array(tmp_path: Path) -> Any:
    """Six chunks of 50 candidates, read from a Zarr store."""
    zarr, da = pytest.importorskip("zarr"), pytest.importorskip("dask.array")
    store = zarr.create_array(tmp_path / "p.zarr", shape=POOL.shape, dtype=POOL.dtype, chunks=(50, 6, 4))
    store[:] = POOL
    return da.from_zarr(store)
