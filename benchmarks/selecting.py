"""Choosing a batch, side by side with peers: seconds, memory, and the information of each batch by a referee.

    python -m benchmarks.selecting                       # the table of the README
    python -m benchmarks.selecting --cases pool          # one sweep: pool, batch, draws, classes or configurations
    python -m benchmarks.selecting --cases 4000x100x10x10 --choosers infoacq batchbald-redux
    python -m benchmarks.selecting --figure              # the figure of what is kept

A case is CANDIDATESxDRAWSxCLASSESxBATCH, with @CONFIGURATIONS if not by default. Each line is a process of its own,
one after the other, so that its memory is its own. A peer that takes over three minutes is given nothing larger. Rows
are kept in benchmarks/results/selecting.json, one for each chooser and case, as each is done; real predictions are used
where they are at hand (`python -m benchmarks.predictions --help`).
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.cases import SWEEPS, Case
from benchmarks.machine import described, peak_mebibytes, resident_mebibytes
from benchmarks.peers import CHOOSERS, Task

RESULTS = Path(__file__).parent / "results" / "selecting.json"
LIMIT = 180.0  # seconds that a chooser may take
AS_DOCUMENTED = ("infoacq", "infoacq (NumPy)")  # measured three times, the shortest counts: they take no time


@dataclass(frozen=True)
class Row:
    """What one chooser took for one case, and what its batch is worth (nats)."""

    chooser: str
    case: str
    source: str
    seconds: float
    mebibytes: float
    information: float
    standard_error: float
    batch: list[int]


def main() -> None:
    """Run what is asked for, keep it and print the table."""
    options = _options()
    if options.one:
        print(json.dumps(asdict(_run_one(*options.one))))
        return
    if options.figure:
        from benchmarks.selecting_figure import draw

        print(draw(kept_rows(RESULTS), RESULTS.with_suffix(".png")))
        return
    slow: dict[str, float] = {}
    for case in [case for name in options.cases for case in SWEEPS.get(name, (name,))]:
        _run_case(Case.parsed(case), options.choosers, slow, options.out)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sweeps = ", ".join(SWEEPS)
    parser.add_argument("--cases", nargs="+", default=["pool"], metavar="CASE", help=f"cases, or sweeps: {sweeps}")
    parser.add_argument("--choosers", nargs="+", choices=CHOOSERS, default=list(CHOOSERS))
    parser.add_argument("--figure", action="store_true", help="draw the rows that are kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where rows are kept (default: %(default)s)")
    parser.add_argument("--one", nargs=2, metavar=("CHOOSER", "CASE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_case(case: Case, choosers: list[str], slow: dict[str, float], out: Path) -> None:
    for chooser in choosers:
        if not CHOOSERS[chooser].is_installed:
            print(f"{chooser}: not installed, left out (pip install -e '.[bench]')")
        elif case.work > slow.get(chooser, np.inf):
            print(f"{chooser}: {case.name} left out, a smaller case took over {LIMIT:.0f} s or failed")
        else:
            row = _in_process(chooser, case.name)
            if row is None or row.seconds > LIMIT:
                slow[chooser] = case.work
            if row is not None:
                _keep(row, out)
    _print([row for row in kept_rows(out) if row.case == case.name], case)


def _in_process(chooser: str, case: str) -> Row | None:
    """One chooser on one case in a process of its own; None, with a line that says why, if it gave no result."""
    command = [sys.executable, "-m", "benchmarks.selecting", "--one", chooser, case]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * LIMIT)
    except subprocess.TimeoutExpired:
        print(f"{chooser}: {case} took over {2 * LIMIT:.0f} s: left out", flush=True)
        return None
    if done.returncode:
        print(f"{chooser}: {case} left out: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    return Row(**json.loads(done.stdout.splitlines()[-1]))


def _run_one(chooser: str, name: str) -> Row:
    from benchmarks.predictions import predictions
    from benchmarks.referee import information

    case = Case.parsed(name)
    source, probs = predictions(case.candidates, case.draws, case.classes)
    choose = CHOOSERS[chooser].choose
    choose(Task(probs[: 4 * case.batch_size], 2, case.configurations))  # imports and first calls are not measured
    before, times = resident_mebibytes(), list[float]()
    while len(times) < (3 if chooser in AS_DOCUMENTED else 1):
        start = time.perf_counter()
        batch = choose(Task(probs, case.batch_size, case.configurations))
        times.append(time.perf_counter() - start)
    memory = peak_mebibytes() - before
    value, error = information(probs, np.array(batch))
    return Row(chooser, name, source, min(times), memory, value, error, batch)


def kept_rows(path: Path) -> list[Row]:
    """The rows that earlier runs kept."""
    return [Row(**row) for row in json.loads(path.read_text())["rows"]] if path.exists() else []


def _keep(row: Row, path: Path) -> None:
    others = [old for old in kept_rows(path) if (old.chooser, old.case) != (row.chooser, row.case)]
    rows = sorted([*others, row], key=lambda one: (Case.parsed(one.case), list(CHOOSERS).index(one.chooser)))
    report = {"machine": described(), "rows": [asdict(one) for one in rows]}
    path.write_text(json.dumps(report, indent=1) + "\n")


def _print(rows: list[Row], case: Case) -> None:
    fastest = min((row.seconds for row in rows if row.chooser == "infoacq"), default=float("nan"))
    print(
        f"\n{case.name}  (candidates x draws x classes x batch size), {rows[0].source if rows else 'nothing measured'}"
    )
    for row in rows:
        print(
            f"  {row.chooser:24} {row.seconds:9.3f} s {row.seconds / fastest:8.1f} x {row.mebibytes:8.0f} MiB"
            f"   {row.information:.4f} ± {row.standard_error:.4f} nats",
            flush=True,
        )


if __name__ == "__main__":
    main()
