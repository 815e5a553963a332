"""What a pass over very many shards costs: the real Dask scheduler on shards that take as long as real ones did.

    python -m benchmarks.scale [--workers 10 100 1000] [--save]

`infoacq.dask.select_batch` chooses from a Dask array whose chunks hold nothing, by an objective that waits for as long
as BatchBALD took for as many candidates (from results/out_of_core.json) and sends back as many numbers. Each number of
workers is tried with shards of few candidates, which shows what a shard costs, and with larger ones, which show what
a candidate costs. Seconds of the scheduler's process and of the driver are those of a core; from these follows what a
pass over larger pools takes.
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array
import distributed
import numpy as np
import psutil

import infoacq.dask
from benchmarks.machine import peak_mebibytes, resident_mebibytes
from benchmarks.simulated_cluster import simulated
from infoacq.candidates import Candidates
from infoacq.maximisers import Greedy
from infoacq.stored import StoredPool

RESULTS = Path(__file__).parent / "results" / "scale.json"
DRAWS, CLASSES, CONFIGURATIONS, PASSES = 20, 10, 512, 2
SHARDS_PER_WORKER, FEW, MANY = 10, 100, 10_000


@dataclass(frozen=True)
class Recorded:
    """An objective that waits where BatchBALD computes, and says numbers of no meaning."""

    seconds: float  # a candidate

    def init(self, pool: Any) -> np.ndarray:
        """As many numbers as the posteriors of BatchBALD's configurations."""
        return np.zeros((CONFIGURATIONS, DRAWS))

    def gains(self, state: np.ndarray, candidates: Candidates) -> np.ndarray:
        """A number a candidate."""
        time.sleep(self.seconds * len(candidates))
        return (candidates.index * 0.6180339887) % 1.0

    def update(self, state: np.ndarray, chosen: Candidates, rng: np.random.Generator) -> np.ndarray:
        """As many numbers."""
        return state + 1.0


@dataclass(frozen=True)
class Row:
    """What one pass cost."""

    workers: int
    shards: int
    candidates: int
    seconds: float
    seconds_of_work: float
    scheduler_seconds: float
    driver_seconds: float
    network_bytes: int
    driver_mebibytes: float


def synthetic(shards: int, candidates: int) -> StoredPool:
    """A pool of chunks that take no memory."""
    shape = (candidates, DRAWS, CLASSES)
    chunk = dask.delayed(np.broadcast_to, pure=False)
    chunks = [dask.array.from_delayed(chunk(np.float16(0.1), shape), shape, np.float16) for _ in range(shards)]
    return StoredPool.of(dask.array.concatenate(chunks), _unchecked)


def _unchecked(probs: Any, index: Any) -> Any:
    return probs


def one_pass(client: Any, scheduler: psutil.Process, workers: int, candidates: int, seconds: float) -> Row:
    """The mean of a few passes."""
    shards = workers * SHARDS_PER_WORKER
    pool = synthetic(shards, candidates)
    infoacq.dask.select_batch(
        synthetic(workers, 1), Recorded(0.0), 1, client=client, maximiser=Greedy(), progress=False
    )
    before, start = resident_mebibytes(), time.perf_counter()
    counts = np.array([_core_seconds(scheduler), _core_seconds(psutil.Process()), _over_the_network()])
    infoacq.dask.select_batch(pool, Recorded(seconds), PASSES, client=client, maximiser=Greedy(), progress=False)
    passed = time.perf_counter() - start
    counts = np.array([_core_seconds(scheduler), _core_seconds(psutil.Process()), _over_the_network()]) - counts
    return Row(
        workers,
        shards,
        shards * candidates,
        passed / PASSES,
        SHARDS_PER_WORKER * candidates * seconds,
        float(counts[0] / PASSES),
        float(counts[1] / PASSES),
        int(counts[2] / PASSES),
        peak_mebibytes() - before,
    )


def _core_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _over_the_network() -> int:
    """Bytes over this machine's network with itself, whoever sent them."""
    return int(psutil.net_io_counters(pernic=True)["lo"].bytes_sent)


def recorded() -> float:
    """Seconds of a core that BatchBALD took a candidate and pass, in the largest pool that was measured."""
    row = json.loads((RESULTS.parent / "out_of_core.json").read_text())["rows"][-1]
    return float(row["cpu_seconds"] * DRAWS * CLASSES * 2 / row["bytes_of_candidates_read"])


def derived(rows: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What a shard and a candidate cost, and what a pass takes of it for pools and clusters of other sizes.

    `rows` end with one of small shards and one of large ones; a large pool's shards are of 64 MB.
    """
    few, many = rows[-2:]
    more = many["candidates"] - few["candidates"]
    costs = {
        "worker_seconds_a_candidate": seconds,
        "scheduler_seconds_a_shard": few["scheduler_seconds"] / few["shards"],
        "driver_seconds_a_shard": few["driver_seconds"] / few["shards"],
        "driver_seconds_a_candidate": (many["driver_seconds"] - few["driver_seconds"]) / more,
        "network_bytes_a_candidate": (many["network_bytes"] - few["network_bytes"]) / more,
        "driver_bytes_a_candidate": many["driver_mebibytes"] * 2**20 / many["candidates"],
    }
    return {"costs": costs, "passes": [_pass_of(n, w, costs) for n in (10**7, 10**8, 10**9) for w in (10, 100, 1000)]}


def _pass_of(candidates: int, workers: int, costs: dict[str, float]) -> dict[str, float]:
    shards = max(candidates * DRAWS * CLASSES * 2 / 64e6, 1.0)
    of_driver = shards * costs["driver_seconds_a_shard"] + candidates * costs["driver_seconds_a_candidate"]
    return {
        "candidates": candidates,
        "workers": workers,
        "scoring_seconds": candidates * costs["worker_seconds_a_candidate"] / workers,
        "scheduler_seconds": shards * costs["scheduler_seconds_a_shard"],
        "driver_seconds": of_driver,
        "network_gigabytes": candidates * costs["network_bytes_a_candidate"] / 1e9,
        "driver_gigabytes": candidates * costs["driver_bytes_a_candidate"] / 1e9,
    }


def main() -> None:
    """Measure passes of each number of workers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", nargs="*", type=int, default=[10, 100, 1000])
    parser.add_argument("--candidates", nargs="*", type=int, default=[FEW, MANY], help="of a shard")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for workers in options.workers:
        with simulated(workers) as (client, scheduler):
            for candidates in options.candidates:
                row = one_pass(client, scheduler, workers, candidates, recorded())
                rows.append(asdict(row))
                print(row, flush=True)
    if options.save:
        machine = {"cores": os.cpu_count(), "dask": dask.__version__, "distributed": distributed.__version__}
        kept = {"machine": machine, "rows": rows, **derived(rows, recorded())}
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
