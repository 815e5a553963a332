"""What a pass over very many shards costs: the real Dask scheduler on shards that take as long as real ones did.

    python -m benchmarks.scale [--workers 10 100] [--shards-per-worker 20] [--shard-seconds 0.05] [--save]

Each worker is a real `distributed` worker in this process; a shard sleeps for `--shard-seconds` and sends back as many
numbers as real scoring does. What is above shards x seconds / workers is the scheduler's, the network's and ours.
"""

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import distributed
import numpy as np

RESULTS = Path(__file__).parent / "results" / "scale.json"
STATE_BYTES = 4096 * 20 * 8  # 4,096 configurations under 20 draws


def shard(number: int, state: Any, candidates: int, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions and gains, after as long as scoring takes."""
    time.sleep(seconds)
    return np.arange(number * candidates, (number + 1) * candidates), np.zeros(candidates)


def one_pass(client: Any, shards: int, candidates: int, seconds: float) -> float:
    """Seconds of a pass, results gathered."""
    start = time.perf_counter()
    state = client.submit(np.zeros, STATE_BYTES // 8, pure=False)
    client.gather(client.map(shard, range(shards), state=state, candidates=candidates, seconds=seconds, pure=False))
    return time.perf_counter() - start


def of_driver(candidates: int) -> dict[str, float]:
    """Seconds and bytes that each candidate costs the driver at a pick: its bound is sorted and compared."""
    bounds = np.random.default_rng(0).random(candidates)
    start = time.perf_counter()
    order = np.argsort(-bounds, kind="stable")
    bounds[order[bounds[order] >= 0.99]]
    return {"seconds_per_candidate": (time.perf_counter() - start) / candidates, "bytes_per_candidate": 5 * 8.0}


def with_workers(workers: int, measure: Callable[[Any], float]) -> float:
    """`measure` on a cluster of so many workers of one thread each."""
    options = {"threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=workers, **options) as cluster, distributed.Client(cluster) as client:
        client.wait_for_workers(workers)
        one_pass(client, workers, 10, 0.0)
        return measure(client)


def main() -> None:
    """Simulate passes and say what is left over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", nargs="*", type=int, default=[10, 100])
    parser.add_argument("--shards-per-worker", type=int, default=20)
    parser.add_argument("--shard-seconds", type=float, default=0.05)
    parser.add_argument("--candidates", type=int, default=1 << 12, help="of a shard")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for workers in options.workers:
        shards = workers * options.shards_per_worker
        case = partial(one_pass, shards=shards, candidates=options.candidates, seconds=options.shard_seconds)
        seconds = with_workers(workers, case)
        ideal = shards * options.shard_seconds / workers
        rows.append({"workers": workers, "shards": shards, "seconds": seconds, "ideal_seconds": ideal})
        rows[-1]["overhead_seconds_per_shard"] = (seconds - ideal) / shards
        print(f"{workers:5} workers, {shards:6} shards: {seconds:7.2f} s, {ideal:.2f} s of work each", flush=True)
    driver = of_driver(10**6)
    print(f"the driver: {driver['seconds_per_candidate'] * 1e9:.0f} ns a candidate and pick")
    if options.save:
        RESULTS.write_text(json.dumps({"options": vars(options), "rows": rows, "driver": driver}, indent=1) + "\n")


if __name__ == "__main__":
    main()
