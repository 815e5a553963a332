"""Workers of a cluster score a part of the pool each, under the same draws, and the batch is chosen from the store."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BatchBALD, select_batch
from infoacq.posteriors import mc_dropout, zarr_rows

choose = pytest.importorskip("infoacq.dask", reason="Dask is not installed").select_batch
pytest.importorskip("zarr", reason="Zarr is not installed")
from tests.dask.scoring import CHUNK, CLASSES, DRAWS, ROWS, inputs, model, score_part  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning"), pytest.mark.filterwarnings("default")]


@pytest.fixture
def store(tmp_path: Path) -> Any:
    return zarr_rows.create(tmp_path / "p.zarr", ROWS, DRAWS, CLASSES, chunk=CHUNK, dtype="float32")


def on_workers(client: Any, store: Path, parts: list[int], seed: int = 0) -> list[int]:
    """Have each part scored by a worker of its own, of two; the processes."""
    addresses = sorted(client.scheduler_info()["workers"])
    tasks = [
        client.submit(score_part, str(store), part, 2, seed, workers=[addresses[part]], pure=False) for part in parts
    ]
    return client.gather(tasks)


def test_two_workers_write_what_one_process_would(client: Any, store: Any, tmp_path: Path) -> None:
    import dask.array as da

    first = on_workers(client, tmp_path / "p.zarr", [0])
    with pytest.raises(ValueError, match=r"130 of the 250 candidates are not written: 120 … 159, 160 … 199"):
        zarr_rows.check_complete(store)
    second = on_workers(client, tmp_path / "p.zarr", [1])
    assert first != second
    zarr_rows.check_complete(store)
    whole = mc_dropout.predict_probs(model(), inputs(), DRAWS, seed=0, progress=False).numpy()
    np.testing.assert_allclose(store[:], whole, atol=1e-6)
    of_cluster = choose(da.from_zarr(store), BatchBALD(), 4, client=client, seed=0, progress=False)
    assert of_cluster.indices == select_batch(whole, BatchBALD(), 4, seed=0).indices


def test_both_at_once_and_again(client: Any, store: Any, tmp_path: Path) -> None:
    assert len(set(on_workers(client, tmp_path / "p.zarr", [0, 1]))) == 2
    before = store[:]
    on_workers(client, tmp_path / "p.zarr", [1, 0])
    np.testing.assert_array_equal(store[:], before)


def test_a_worker_with_another_seed_is_refused(client: Any, store: Any, tmp_path: Path) -> None:
    on_workers(client, tmp_path / "p.zarr", [0])
    with pytest.raises(ValueError, match="begun with seed = 0, this call has 7"):
        on_workers(client, tmp_path / "p.zarr", [1], seed=7)
    assert store.shape == (ROWS, DRAWS, CLASSES)
    assert sum(rows.stop - rows.start for rows in zarr_rows.missing(store)) == 130
