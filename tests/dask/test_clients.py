"""Clients that are not there, closed, restarted or shared: an error that says so, or the batch of one process."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, select_batch
from infoacq.maximisers import TwoRounds
from tests.dask.conftest import POOL, SECONDS

choose = pytest.importorskip("infoacq.dask", reason="Dask is not installed").select_batch
pytestmark = [pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning"), pytest.mark.filterwarnings("default")]


def test_no_client_and_things_that_are_none(array: Any) -> None:
    with pytest.raises(ValueError, match=r"there is no Dask client: make one"):
        choose(array, BALD(), 3)
    with pytest.raises(TypeError, match=r"must be a distributed.Client; got 'tcp://there'"):
        choose(array, BALD(), 3, client="tcp://there")


def test_a_client_that_is_closed(cluster: Any, array: Any) -> None:
    import distributed

    client = distributed.Client(cluster)
    client.close()
    with pytest.raises(ValueError, match="must be connected; got one that is closed"):
        choose(array, BALD(), 3, client=client)


def test_a_client_within_a_running_loop(cluster: Any, array: Any) -> None:
    import distributed

    async def choosing() -> None:
        async with distributed.Client(cluster.scheduler_address, asynchronous=True) as client:
            with pytest.raises(ValueError, match="must be synchronous"):
                choose(array, BALD(), 3, client=client)

    asyncio.run(choosing())


class Waiting(BatchBALD):
    """It says when the first shard is about to be scored, and takes its time then."""

    def gains(self, joint: Any, candidates: Any) -> Any:
        import distributed

        distributed.Event("scoring").set()
        distributed.Event("go on").wait(60)
        return super().gains(joint, candidates)


@pytest.mark.parametrize("lost_by", ["close", "restart"])
def test_a_client_that_is_lost_in_the_midst_of_it(lost_by: str, cluster: Any, array: Any) -> None:
    import distributed

    with distributed.Client(cluster) as other, distributed.Client(cluster) as client:
        other.wait_for_workers(2, timeout=SECONDS)
        for name in ("scoring", "go on"):
            distributed.Event(name, client=other).clear()

        def lose() -> None:
            distributed.Event("scoring", client=other).wait(60)
            (client.close if lost_by == "close" else other.restart)()

        losing = threading.Thread(target=lose)
        losing.start()
        with pytest.raises(RuntimeError, match=r"was cancelled: its client was closed or restarted.* Connect again"):
            choose(array, Waiting(), 3, client=client, progress=False)
        distributed.Event("go on", client=other).set()
        losing.join()
        other.wait_for_workers(2, timeout=SECONDS)


def test_selections_at_the_same_time(client: Any, array: Any) -> None:
    """Four of them share a client: each is what it is alone, and nothing stays on the cluster."""
    pools = {0: (array, POOL), 1: (array[60:260], POOL[60:260])}

    def batch(number: int) -> Any:
        return choose(pools[number % 2][0], BatchBALD(20), 4, client=client, seed=number, progress=False).indices

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(batch, range(4)))
    assert found == [select_batch(pools[i % 2][1], BatchBALD(20), 4, seed=i).indices for i in range(4)]
    assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


@pytest.mark.parametrize("maximiser", [None, TwoRounds()])
def test_chunks_that_hold_nobody_and_an_array_that_another_client_holds(
    maximiser: Any, cluster: Any, client: Any, array: Any, tmp_path: Path
) -> None:
    import dask.array as da
    import distributed

    wanted = np.ones(len(POOL), dtype=bool)
    wanted[50:100] = wanted[250:] = False
    some = array[da.from_array(wanted, chunks=50)].compute_chunk_sizes()
    assert some.chunks[0] == (50, 0, 50, 50, 50, 0)
    of_memory = select_batch(da.from_array(POOL[wanted], chunks=(50, 6, 4)), BatchBALD(), 4, maximiser=maximiser)
    with distributed.Client(cluster, set_as_default=False) as other:
        for pool in (some, other.persist(some)):
            got = choose(pool, BatchBALD(), 4, client=client, maximiser=maximiser, progress=False)
            assert got.indices == of_memory.indices
