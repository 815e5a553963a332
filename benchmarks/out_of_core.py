"""A batch from a file that is larger than what may be held: time, bytes and memory as the pool grows.

    python -m benchmarks.out_of_core [--sizes 100000 1000000 10000000] [--folder DIR] [--save]

makes a .npy file of n × 20 × 10 probabilities in half precision (4 GB for 10 million candidates; removed afterwards),
maps it and chooses 3 of them with BatchBALD (more would saturate 20 draws), each size in a process of its own.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from infoacq import BatchBALD, from_probs, select_batch

DRAWS, CLASSES, BATCH, FEATURES = 20, 10, 3, 16
RESULTS = Path(__file__).parent / "results" / "out_of_core.json"


def make(path: Path, candidates: int) -> None:
    """Predictions of softmax models whose weights differ around a common mean, written piece by piece.

    As in pools of a trained model, most candidates are all but certain and their gains are small.
    """
    rng = np.random.default_rng(0)
    weights = 3.0 * rng.normal(size=(FEATURES, 1, CLASSES)) + 0.7 * rng.normal(size=(FEATURES, DRAWS, CLASSES))
    weights = weights.reshape(FEATURES, -1).astype(np.float32)
    shape = (candidates, DRAWS, CLASSES)
    file = np.lib.format.open_memmap(path, "w+", np.float16, shape)
    for start in range(0, candidates, 1 << 14):
        stop = min(start + (1 << 14), candidates)
        logits = rng.standard_normal((stop - start, FEATURES), dtype=np.float32) @ weights
        probs = np.exp(np.clip(logits, -80, 80)).reshape(-1, DRAWS, CLASSES)
        file[start:stop] = probs / (probs @ np.ones((CLASSES, 1), np.float32))
    file.flush()


class Meter:
    """The built-in map, noting after each shard the memory that is not the file's."""

    def __init__(self) -> None:
        self.before = self.most = held()
        self.passes = 0

    def map(self, function: Callable[[Any], Any], shards: Iterable[Any]) -> Iterator[Any]:
        """`function` of each shard."""
        self.passes += 1
        for shard in shards:
            result = function(shard)
            self.most = max(self.most, held())
            yield result


def held() -> float:
    """Memory of this process without mapped files (MiB)."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))


def read_from_disk() -> int:
    """Bytes that this process has had read from the disk; less if the file is still in the system's cache."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["read_bytes"])


def measured(path: Path) -> dict[str, Any]:
    """One selection from the file."""
    pool, meter = from_probs(np.load(path, mmap_mode="r")), Meter()
    before, start = read_from_disk(), time.perf_counter()
    selection = select_batch(pool, BatchBALD(), BATCH, seed=0, map=meter.map)
    seconds = time.perf_counter() - start
    return {
        "candidates": len(pool),
        "seconds": round(seconds, 2),
        "file_bytes": path.stat().st_size,
        "bytes_of_predictions_evaluated": selection.evaluations * DRAWS * CLASSES * 2,
        "bytes_read_from_disk": read_from_disk() - before,
        "passes_over_some_shards": meter.passes,
        "peak_mebibytes_beside_the_file": round(meter.most, 1),
        "mebibytes_before": round(meter.before, 1),
        "score_nats": selection.scores[-1],
        "indices": selection.indices,
    }


def main() -> None:
    """Make, measure and remove a file of each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", type=int, default=[10**5, 10**6, 10**7], metavar="N")
    parser.add_argument("--folder", type=Path, default=Path(), help="where the files are made (default: here)")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__}
    rows: list[dict[str, Any]] = []
    for size in options.sizes:
        rows.append(_in_process(options.folder / f"pool_{size}.npy", size))
        if options.save:
            RESULTS.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1) + "\n")


def _in_process(path: Path, candidates: int) -> dict[str, Any]:
    try:
        make(path, candidates)
        command = [sys.executable, "-m", "benchmarks.out_of_core", "--one", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    finally:
        path.unlink(missing_ok=True)
    row: dict[str, Any] = json.loads(done.stdout)
    print(f"{row['candidates']:>12,} candidates {row['seconds']:8.1f} s", end="")
    print(
        f"  {row['bytes_of_predictions_evaluated'] / 1e9:7.2f} GB evaluated of {row['file_bytes'] / 1e9:.2f} GB", end=""
    )
    print(f"  {row['peak_mebibytes_beside_the_file']:6.0f} MiB at most", flush=True)
    return row


if __name__ == "__main__":
    main()
