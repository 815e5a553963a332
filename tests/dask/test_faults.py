"""What can go wrong on a cluster is said in our words, and names the place."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import infoacq
from infoacq import BALD
from tests.dask.conftest import POOL

choose = pytest.importorskip("infoacq.dask", reason="Dask is not installed").select_batch
pytestmark = pytest.mark.filterwarnings("default")


def test_a_chunk_that_cannot_be_read_is_named(client: Any, array: Any, tmp_path: Path) -> None:
    chunk = tmp_path / "p.zarr" / "c" / "4" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes()[:40])
    with pytest.raises(OSError, match="candidates 200 … 249 cannot be read from a chunk of the Dask array"):
        choose(array, BALD(), 3, client=client, progress=False)


def test_a_chunk_that_is_missing_is_named(client: Any, array: Any, tmp_path: Path) -> None:
    (tmp_path / "p.zarr" / "c" / "2" / "0" / "0").unlink()
    with pytest.raises(ValueError, match="candidate 100, draw 0 is 0 for every class"):
        choose(array, BALD(), 3, client=client, progress=False)


@pytest.mark.parametrize(("draws", "classes"), [(2, 4), (6, 3)])
def test_shards_of_other_draws_or_classes(draws: int, classes: int, client: Any) -> None:
    import dask
    import dask.array as da

    blocks = [POOL[:50], POOL[50:100, :draws, :classes]]
    array = da.concatenate([da.from_delayed(dask.delayed(b), (50, 6, 4), POOL.dtype) for b in blocks])
    with pytest.raises(ValueError, match=rf"from candidate 50 on must have .*got \(50, {draws}, {classes}\)"):
        choose(array, BALD(), 3, client=client, progress=False)


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    """A worker in a process of its own, whose environment says that another release is installed."""
    import dask.array as da
    import distributed

    other = tmp_path / "site" / "infoacq-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: infoacq\nVersion: 0.0.1\n")
    scheduler = distributed.LocalCluster(n_workers=0, dashboard_address=None)
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); from distributed.cli import dask_worker; " + (
        f"dask_worker.main([{scheduler.scheduler_address!r}, '--no-nanny', '--no-dashboard', '--nthreads', '1'])"
    )
    here = os.environ | {"PYTHONPATH": str(Path(infoacq.__file__).parents[1])}  # the same code, by another name
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=here, stderr=subprocess.DEVNULL)
    try:
        with distributed.Client(scheduler) as client:
            client.wait_for_workers(1, timeout=60)
            with pytest.raises(RuntimeError, match=r"has infoacq 0.0.1, this process has infoacq .*Install infoacq=="):
                choose(da.from_array(np.asarray(POOL), chunks=(50, 6, 4)), BALD(), 3, client=client, progress=False)
    finally:
        worker.terminate()
        worker.wait()
        scheduler.close()
