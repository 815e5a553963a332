"""A real cluster of processes chooses the batch that one process would, whatever becomes of its workers."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, Random, from_log_probs, select_batch
from infoacq.maximisers import RacingGreedy, SieveStreaming, StochasticGreedy
from infoacq.objectives import EPIG
from tests.dask.conftest import POOL, SECONDS
from tests.dask.dying import Dying

choose = pytest.importorskip("infoacq.dask", reason="Dask is not installed: pip install 'infoacq[dask]'").select_batch
pytestmark = [pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning"), pytest.mark.filterwarnings("default")]


@pytest.mark.parametrize(
    ("objective", "maximiser"),
    [
        (BatchBALD(), None),
        (BatchBALD(50), Greedy()),
        (BatchBALD(50), LazyGreedy(first=4)),
        (BatchBALD(), RacingGreedy(sizes=(8, 32), first=4)),
        (BatchBALD(), StochasticGreedy()),
        (BatchBALD(), SieveStreaming()),
        (BALD(), None),
        (EPIG(POOL[:7]), None),
        (Random(), None),
    ],
    ids=str,
)
def test_the_batch_is_that_of_one_process(objective: Any, maximiser: Any, client: Any, array: Any) -> None:
    wanted = select_batch(POOL, objective, 5, maximiser=maximiser, pending=[250, 3], seed=4)
    got = choose(array, objective, 5, client=client, maximiser=maximiser, pending=[250, 3], seed=4, progress=False)
    assert got.indices == wanted.indices
    np.testing.assert_allclose(got.gains, wanted.gains, atol=1e-5)


def test_persisted_chunks_log_probabilities_and_chunks_across_classes(client: Any, array: Any) -> None:
    import dask.array as da

    wanted = select_batch(POOL, BatchBALD(), 4, seed=0).indices
    assert choose(array.persist(), BatchBALD(), 4, seed=0, progress=False).indices == wanted
    cut = da.from_array(np.log(POOL), chunks=((120, 7, 173), 3, 2))
    logs = choose(from_log_probs(cut), BatchBALD(), 4, client=client, seed=0, progress=False)
    assert logs.indices == select_batch(from_log_probs(np.log(POOL)), BatchBALD(), 4, seed=0).indices


@pytest.mark.parametrize("persisted", [False, True])
def test_a_worker_that_is_killed_changes_nothing(persisted: bool, mortal: Any, array: Any, tmp_path: Path) -> None:
    wanted = select_batch(POOL, BatchBALD(), 5, seed=0)
    array = array.persist() if persisted else array
    before = set(mortal.run(os.getpid).values())
    marker = tmp_path / f"{os.getpid()}.mark"
    got = choose(array, Dying(marker=marker), 5, client=mortal, seed=0, progress=False)
    killed = int(marker.with_suffix(".killed").read_text())
    assert killed in before
    assert got.indices == wanted.indices
    np.testing.assert_allclose(got.gains, wanted.gains, atol=1e-5)
    mortal.wait_for_workers(2, timeout=SECONDS)
    assert killed not in set(mortal.run(os.getpid).values())


def test_a_chunk_that_kills_every_worker_is_named(
    mortal: Any, array: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mortal.cluster.scheduler, "allowed_failures", 0)  # not 3: a worker takes seconds to start
    marker = tmp_path / f"{os.getpid()}.mark"
    with pytest.raises(OSError, match=r"candidates \d+ … \d+ cannot be read .*: KilledWorker"):
        choose(array[:50], Dying(marker=marker, every_time=True), 5, client=mortal, seed=0, progress=False)


def test_what_comes_back_is_gains_and_winners(client: Any, array: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every result of every task, as it crosses the network: two or three numbers a candidate, never k × c."""
    import pickle

    from infoacq import cluster

    sizes: list[int] = []
    result = cluster._result
    monkeypatch.setattr(
        cluster, "_result", lambda *given: sizes.append(len(pickle.dumps(answer := result(*given)))) or answer
    )
    choose(array, BatchBALD(), 5, client=client, seed=0, progress=False)
    assert len(sizes) > 6
    assert max(sizes) < 50 * 3 * 8 + 600
    assert max(sizes) < POOL[:50].nbytes / 2


def test_the_bar_moves(client: Any, array: Any, capfd: pytest.CaptureFixture[str]) -> None:
    choose(array, BALD(), 3, client=client)
    assert "6/6" in capfd.readouterr().err


def test_without_a_client_or_a_dask_array_the_way_out_is_said(client: Any) -> None:
    with pytest.raises(TypeError, match="must be a Dask array"):
        choose(POOL, BALD(), 3, client=client)


def test_what_is_ready_is_fetched_together(client: Any, array: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fetching goes through the scheduler, so there are not as many as shards."""
    import distributed

    fetched: list[int] = []
    gather = client.gather
    monkeypatch.setattr(client, "gather", lambda futures, **how: fetched.append(len(futures)) or gather(futures, **how))
    monkeypatch.setattr(
        distributed, "as_completed", lambda f: SimpleNamespace(batches=lambda: [list(distributed.wait(f).done)])
    )
    batch = choose(array, BALD(), 3, client=client, progress=False)
    assert fetched == [6]
    assert batch.indices == select_batch(POOL, BALD(), 3).indices
