"""A batch from a file that is larger than what may be held: time, bytes and memory as the pool grows.

    python -m benchmarks.out_of_core [--sizes 100000 1000000 10000000] [--folder DIR] [--save]
    python -m benchmarks.out_of_core --figure        # from what was saved

makes a .npy file of n × 20 × 10 probabilities in half precision (4 GB for 10 million candidates; removed afterwards),
maps it and chooses 3 of them with BatchBALD (more would saturate 20 draws), each size in a process of its own. The
system may not give that process more than 2 GiB beside the file, and forgets the file before it begins.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from infoacq import BatchBALD, from_probs, select_batch

DRAWS, CLASSES, BATCH, FEATURES = 20, 10, 3, 16
RESULTS = Path(__file__).parent / "results" / "out_of_core.json"
NOTE = "`seconds` passed while others used the machine as well, and stopped this process at times: see `cpu_seconds`"
LIMIT = 2 << 30  # bytes that the process may ask of the system beside mapped files


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
    """The memory of this process that is not the file's, looked at every few milliseconds, and a map that counts."""

    def __init__(self) -> None:
        self.passes = self.rows = 0
        self.before = self.most = held()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> "Meter":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.005):
            self.most = max(self.most, held())

    def map(self, function: Callable[[Any], Any], shards: Iterable[Any]) -> Iterator[Any]:
        """`function` of each shard."""
        self.passes += 1
        for shard in shards:
            self.rows += shard.stop - shard.start if shard.index is None else len(shard.index)
            yield function(shard)


def held() -> float:
    """Memory of this process without mapped files (MiB)."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in status if line.startswith("RssAnon"))


def read_from_disk() -> int:
    """Bytes that this process has had read from the disk."""
    counts = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(counts["read_bytes"])


def forgotten(path: Path) -> None:
    """Take the file out of the system's cache, so that it is read from the disk."""
    with path.open("r+b") as file:
        os.fsync(file)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measured(path: Path) -> dict[str, Any]:
    """One selection from the file."""
    forgotten(path)
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    pool = from_probs(np.load(path, mmap_mode="r"))
    before, start, cpu = read_from_disk(), time.perf_counter(), time.process_time()
    with Meter() as meter:
        selection = select_batch(pool, BatchBALD(), BATCH, seed=0, map=meter.map)
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    return {
        "candidates": len(pool),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "file_bytes": path.stat().st_size,
        "bytes_of_candidates_read": meter.rows * DRAWS * CLASSES * 2,
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
    parser.add_argument("--figure", action="store_true", help="draw what was saved")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measured(options.one)))
        return
    if options.figure:
        draw(json.loads(RESULTS.read_text())["rows"], RESULTS.with_suffix(".png"))
        return
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "numpy": np.__version__, "note": NOTE}
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
    print(f" ({row['cpu_seconds']:.1f} s of a core)", end="")
    print(f"  {row['bytes_of_candidates_read'] / 1e9:7.2f} GB read of {row['file_bytes'] / 1e9:.2f} GB", end="")
    print(f"  {row['peak_mebibytes_beside_the_file']:6.0f} MiB at most", flush=True)
    return row


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Time, bytes and memory by the number of candidates."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    sizes = [row["candidates"] for row in rows]
    panels = (
        ("seconds of a core", {"cpu_seconds": "choosing 3 candidates"}, 1),
        ("GB", {"bytes_of_candidates_read": "read, all passes", "file_bytes": "the file"}, 1e9),
        ("MiB beside the file", {"peak_mebibytes_beside_the_file": "most", "mebibytes_before": "before"}, 1),
    )
    for axes, (label, curves, unit) in zip(figure.subplots(1, 3), panels, strict=True):
        for key, name in curves.items():
            axes.plot(sizes, [row[key] / unit for row in rows], "o-", label=name)
        axes.set(xlabel="candidates", ylabel=label, xscale="log", yscale="log")
        axes.legend(frameon=False)
    figure.axes[-1].axhline(LIMIT >> 20, color="0.6", linestyle=":")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
