"""Trap 33: a run that is killed and resumed equals one that was not."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from reproduce.cli import main
from reproduce.data import DataSet
from reproduce.errors import UserError
from reproduce.experiments import DIGITS
from reproduce.loop import run_trial
from reproduce.methods import BATCHBALD
from reproduce.results import Log, read_log
from reproduce.runs import Run
from reproduce.settings import Experiment, smoke
from tests.reproduce.conftest import RunTiny, found

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def whole(run_tiny: RunTiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that was not interrupted."""
    out = tmp_path_factory.mktemp("whole")
    run_tiny(out)
    return out


def copy_of(whole: Path, out: Path) -> Path:
    """A folder to work in, and the log in it."""
    shutil.copytree(whole, out, dirs_exist_ok=True)
    return out / "tiny" / "paper" / "trial-0" / "batchbald.jsonl"


@pytest.mark.parametrize("left", [0.0, 0.1, 0.35, 0.6, 0.999])
def test_trap_33_a_log_cut_anywhere_is_gone_on_with(
    run_tiny: RunTiny, whole: Path, tmp_path: Path, left: float
) -> None:
    path = copy_of(whole, tmp_path)
    content = path.read_bytes()
    expected = read_log(path)
    assert expected is not None
    path.write_bytes(content[: int(left * len(content))])
    assert found(run_tiny(tmp_path)) == found(expected)


def test_trap_33_steps_that_are_logged_are_not_run_again(run_tiny: RunTiny, whole: Path, tmp_path: Path) -> None:
    path = copy_of(whole, tmp_path)
    content = path.read_bytes()
    run_tiny(tmp_path)
    assert path.read_bytes() == content  # the seconds are there too: nothing was done again
    lines = content.splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    run_tiny(tmp_path)
    assert path.read_bytes().startswith(b"".join(lines[:-1]))


def test_trap_33_a_run_that_was_told_to_stop_goes_on_later(
    tiny: Experiment, tiny_data: DataSet, whole: Path, tmp_path: Path
) -> None:
    expected = read_log(copy_of(whole, tmp_path / "whole"))
    assert expected is not None
    for until, steps in ((7, 3), (9, 4), (3, 4)):
        run = Run(tiny, BATCHBALD, 0, "paper", until)
        run_trial(run, tiny_data, tmp_path / "parts", torch.device("cpu"))
        log = read_log(run.log(tmp_path / "parts"))
        assert log is not None
        assert found(log) == found(expected)[:steps]


def test_a_log_that_does_not_fit_its_split_is_refused(run_tiny: RunTiny, whole: Path, tmp_path: Path) -> None:
    path = copy_of(whole, tmp_path)
    split = json.loads(path.with_name("split.json").read_text())["split"]
    lines = path.read_text().splitlines()
    step = json.loads(lines[1])
    step["chosen"][1] = split["held_out"][0]
    path.write_text("\n".join([lines[0], json.dumps(step)]) + "\n")
    with pytest.raises(UserError, match=r"step 0 of .* not in its pool"):
        run_tiny(tmp_path)


def command(out: Path) -> list[str]:
    asked = "run digits --scale smoke --methods batchbald --trials 0 --workers 1 --quiet --out"
    return [sys.executable, "-m", "reproduce", *asked.split(), str(out)]


def wait_until(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < give_up, "the process did not get there"
        time.sleep(0.02)


def log_of(out: Path) -> Log | None:
    return read_log(out / "digits" / "smoke" / "trial-0" / "batchbald.jsonl")


def test_trap_33_a_killed_process_leaves_a_log_that_the_next_one_finishes(tmp_path: Path) -> None:
    killed, spared = tmp_path / "killed", tmp_path / "spared"
    process = subprocess.Popen(command(killed), cwd=ROOT, start_new_session=True, stderr=subprocess.DEVNULL)
    wait_until(lambda: bool((log := log_of(killed)) and log.steps))
    os.kill(process.pid, signal.SIGKILL)  # the command alone: what it started must notice and end too
    process.wait()
    wait_until(lambda: not group_lives(process.pid))
    begun = log_of(killed)
    assert begun is not None
    assert len(begun.steps) < 3, "it was not killed in the middle"

    assert main(command(killed)[3:]) == 0
    experiment = smoke(DIGITS)
    data = experiment.settings.data.load(None)
    run_trial(Run(experiment, BATCHBALD, 0, "smoke"), data, spared, torch.device("cpu"))
    first, second = log_of(killed), log_of(spared)
    assert first is not None
    assert second is not None
    assert len(first.steps) == 3
    assert found(first) == found(second)


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
