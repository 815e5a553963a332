"""Choosing a batch, side by side with peers: seconds, memory, and the information of each batch by a referee.

    python -m benchmarks.selecting                 # the table of the README
    python -m benchmarks.selecting --grow          # time against pool size, batch size, draws, classes, configurations
    python -m benchmarks.selecting --cases 4000x100x10x10 --choosers infoacq batchbald-redux

Each line is a process of its own, one after the other in one run, so that memory is its own and ratios are fair. A peer
that took over three minutes is not given a larger pool. Rows go to benchmarks/results/selecting.json.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.peers import CHOOSERS

RESULTS = Path(__file__).parent / "results" / "selecting.json"
LIMIT = 180.0
CASES = ("1000x100x10x10", "4000x100x10x10", "20000x100x10x10", "60000x100x10x10")
GROWTH = (
    "4000x10x10x10", "4000x20x10x10", "4000x100x10x5", "4000x100x10x50",
    "4000x100x2x10", "4000x10x47x10", "4000x20x100x5",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What one chooser took for one case."""

    chooser: str
    case: str
    source: str
    seconds: float
    mebibytes: float
    information: float
    standard_error: float
    batch: list[int]


def main() -> None:
    """Run the cases that are asked for and print the table."""
    options = _options()
    if options.one:
        print(json.dumps(asdict(_run_one(*options.one))))
        return
    rows, slow = list[Row](), set[str]()
    for case in options.cases or (CASES + GROWTH if options.grow else CASES):
        for chooser in options.choosers:
            if chooser not in slow:
                row = _in_process(chooser, case)
                rows += [row] if row else []
                if row is None or row.seconds > LIMIT / 4:
                    slow.add(chooser)
        _print(rows, case)
    if options.save:
        RESULTS.write_text(json.dumps({"machine": machine(), "rows": [asdict(row) for row in rows]}, indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="*", metavar="NxKxCxB", help="candidates x draws x classes x batch size")
    parser.add_argument("--choosers", nargs="*", choices=CHOOSERS, default=list(CHOOSERS))
    parser.add_argument("--grow", action="store_true", help="the larger set of cases")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--one", nargs=2, metavar=("CHOOSER", "CASE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_process(chooser: str, case: str) -> Row | None:
    """One chooser on one case in a process of its own; None, with a line that says why, if it gave no result."""
    command = [sys.executable, "-m", "benchmarks.selecting", "--one", chooser, case]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT + 120)
    except subprocess.TimeoutExpired:
        print(f"{chooser}: {case} took over {LIMIT + 120:.0f} s: left out", flush=True)
        return None
    if done.returncode:
        print(f"{chooser}: {case} left out: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def _run_one(chooser: str, case: str) -> Row:
    from benchmarks.predictions import predictions
    from benchmarks.referee import information

    n, k, c, batch_size = (int(part) for part in case.split("x"))
    source, probs = predictions(n, k, c)
    choose = CHOOSERS[chooser]
    choose(probs[: 4 * batch_size], 2)  # imports and first calls are not what is measured
    before = _resident()
    start = time.perf_counter()
    batch = choose(probs, batch_size)
    seconds = time.perf_counter() - start
    value, error = information(probs, np.array(batch))
    return Row(chooser, case, source, seconds, _peak() - before, value, error, batch)


def _resident() -> float:
    """The memory of this process (MiB); its peak starts anew from it."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    cpu = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    versions = {}
    for package in ("numpy", "torch", "batchbald-redux", "baal", "scikit-activeml"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"cpu": cpu[0], "cores": str(os.cpu_count()), "python": platform.python_version(), **versions}


def _print(rows: list[Row], case: str) -> None:
    of_case = [row for row in rows if row.case == case]
    fastest = min((row.seconds for row in of_case if row.chooser == "infoacq"), default=float("nan"))
    print(f"\n{case}  (candidates x draws x classes x batch size), {of_case[0].source if of_case else ''}")
    for row in of_case:
        print(
            f"  {row.chooser:24} {row.seconds:9.3f} s {row.seconds / fastest:8.1f} x {row.mebibytes:8.0f} MiB"
            f"   {row.information:.4f} ± {row.standard_error:.4f} nats",
            flush=True,
        )


if __name__ == "__main__":
    main()
