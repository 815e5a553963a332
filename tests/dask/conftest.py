"""A cluster of two processes, and real stores to choose from."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.predictions import dirichlet

POOL = dirichlet(191, 300, 6, 4, concentration=0.4).astype(np.float32)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Two workers with a process each, which are started anew when they die."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install 'infoacq[dask]'")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as started:
        yield started


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    import distributed

    with distributed.Client(cluster) as connected:
        connected.wait_for_workers(2)
        yield connected


@pytest.fixture
def array(tmp_path: Path) -> Any:
    """Six chunks of 50 candidates, read from a Zarr store."""
    zarr, da = pytest.importorskip("zarr"), pytest.importorskip("dask.array")
    store = zarr.create_array(tmp_path / "p.zarr", shape=POOL.shape, dtype=POOL.dtype, chunks=(50, 6, 4))
    store[:] = POOL
    return da.from_zarr(store)
