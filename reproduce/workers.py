"""Runs side by side: a process and a thread for each, watched through their logs."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Thread
from typing import Never

import torch
from tqdm import tqdm

from reproduce.errors import UserError
from reproduce.loop import run_trial
from reproduce.results import check_same_settings, read_log
from reproduce.runs import Run
from reproduce.settings import describe_run

POLL_S = 1.0
THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Place:
    """Where runs find their data and keep their logs, and what computes them."""

    out: Path
    data: Path | None
    device: str


def steps_done(run: Run, out: Path) -> int:
    """Steps that the run's log holds; a finished run has one more than it has acquisitions."""
    log = read_log(run.log(out))
    return len(log.steps) if log else 0


def run_all(runs: Sequence[Run], place: Place, *, workers: int, progress: bool = True) -> None:
    """Bring every run to its end; all that is kept is in the logs, and finished runs are left alone.

    Each process computes with one thread, so that neither the workers nor the cores change what a run finds.

    Raises:
        UserError: a log was made with other settings, the data are missing, or some runs failed (the others are
            finished first).
    """
    for run in runs:
        _check_settings(run, place.out)
    todo = [run for run in runs if steps_done(run, place.out) <= run.last_step]
    if not todo:
        return
    todo[0].experiment.settings.data.load(place.data)  # missing data, and weights, are told before any run
    todo[0].network()
    total = sum(run.last_step + 1 for run in todo)
    done = sum(steps_done(run, place.out) for run in todo)
    every = POLL_S if sys.stderr.isatty() else 30.0  # seconds; a file that catches the bar is not flooded
    bar = tqdm(total=total, initial=done, unit="step", mininterval=every, disable=not progress)
    with bar, _one_thread_a_process():
        failed = _side_by_side(todo, place, workers, bar)
    if failed:
        raise UserError(f"failed, each for the reason above: {', '.join(map(str, failed))}")


def _check_settings(run: Run, out: Path) -> None:
    log = read_log(run.log(out))
    if log is not None:
        check_same_settings(log.header, {"settings": describe_run(run.experiment, run.method)}, run.log(out))


def _side_by_side(todo: Sequence[Run], place: Place, workers: int, bar: "tqdm[Never]") -> list[Run]:
    waiting, failed = list(todo), []
    active: list[tuple[Run, SpawnProcess]] = []
    try:
        while waiting or active:
            while waiting and len(active) < workers:
                active.append(_start(waiting.pop(0), place))
            connection.wait([process.sentinel for _, process in active], POLL_S)
            _show(todo, [run for run, _ in active], place.out, bar)
            failed += [run for run, process in active if process.exitcode]
            active = [(run, process) for run, process in active if process.exitcode is None]
    finally:
        for _, process in active:
            process.terminate()
    return failed


def _start(run: Run, place: Place) -> tuple[Run, SpawnProcess]:
    process = get_context("spawn").Process(target=_work, args=(run, place), daemon=True)
    process.start()
    return run, process


def _work(run: Run, place: Place) -> None:
    """What a process does; it ends when the command that started it does, even if that was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends its processes itself
    Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    try:
        run_trial(run, run.experiment.settings.data.load(place.data), place.out, torch.device(place.device))
    except UserError as error:
        sys.exit(f"{run}: {error}")


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _show(todo: Sequence[Run], active: Sequence[Run], out: Path, bar: "tqdm[Never]") -> None:
    bar.set_description_str(", ".join(map(str, active)), refresh=False)
    bar.update(sum(steps_done(run, out) for run in todo) - bar.n)
    if sys.stderr.isatty():
        bar.refresh()  # the clock goes on between two steps


@contextmanager
def _one_thread_a_process() -> Iterator[None]:
    """Tell the linear algebra libraries of processes started from here to use one thread."""
    before = {name: os.environ.get(name) for name in THREAD_COUNTS}
    os.environ.update(dict.fromkeys(THREAD_COUNTS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
