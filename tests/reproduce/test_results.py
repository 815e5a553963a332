"""Logs: one process at a time, the same settings, damage told."""

import json
from pathlib import Path

import pytest

from reproduce.errors import UserError
from reproduce.methods import BALD_FREE, BALD_KEPT, BATCHBALD, RANDOM
from reproduce.results import check_same_settings, open_log, read_log, write_whole
from reproduce.settings import Experiment
from tests.reproduce.conftest import RunTiny

HEADER = {"settings": {"draws": 5, "kind": "Settings"}, "initial_labels": 20}


def test_a_log_says_what_was_run_on_what(run_tiny: RunTiny, tmp_path: Path, tiny: Experiment) -> None:
    header = run_tiny(tmp_path, BALD_FREE).header
    assert header["experiment"] == "tiny"
    assert (header["method"], header["trial"], header["initial_labels"]) == ("bald-free", 0, 20)
    assert header["settings"]["draws"] == 5
    assert header["settings"]["network"] == "DigitsMLP"
    assert header["settings"]["data"] == {"kind": "Digits", "copies": 2, "noise": 0.1}
    assert header["settings"]["masks"] == "free"
    assert set(header["versions"]) == {"infoacq", "torch", "torchvision", "numpy", "python"}
    assert header["machine"]["threads"] == 1


def test_a_log_of_other_settings_is_not_gone_on_with(run_tiny: RunTiny, tmp_path: Path) -> None:
    run_tiny(tmp_path)
    log = tmp_path / "tiny" / "paper" / "trial-0" / "batchbald.jsonl"
    content = log.read_bytes()
    (log.parent / "split.json").unlink()
    with pytest.raises(UserError, match="draws: 5 there, 6 now"):
        run_tiny(tmp_path, draws=6)
    assert log.read_bytes() == content


def test_settings_are_compared_to_their_depth_and_new_ones_are_no_difference() -> None:
    old = {"settings": {"draws": 5, "training": {"patience": 3, "max_epochs": 9}, "method": {"kind": "BALD"}}}
    same = {"settings": {"draws": 5, "training": {"patience": 3, "max_epochs": 9, "augment": False}}}
    check_same_settings(old, same, Path("log"))
    other = {"settings": {"draws": 5, "training": {"patience": 4, "max_epochs": 9}, "method": {"kind": "BatchBALD"}}}
    with pytest.raises(UserError, match=r"method\.kind: BALD there, BatchBALD now; training\.patience: 3 there, 4 now"):
        check_same_settings(old, other, Path("log"))


def test_two_processes_do_not_write_one_log(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with (
        open_log(path, HEADER),
        pytest.raises(UserError, match="another process is writing"),
        open_log(path, HEADER),
    ):
        pass
    with open_log(path, HEADER) as (steps, _):  # free again
        assert steps == []


def test_a_damaged_line_in_the_middle_is_told_with_its_number(run_tiny: RunTiny, tmp_path: Path) -> None:
    run_tiny(tmp_path, RANDOM)
    path = tmp_path / "tiny" / "paper" / "trial-0" / "random.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2][: len(lines[2]) // 2] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(UserError, match=r"line 3 of .*random\.jsonl is damaged"):
        read_log(path)


def test_a_log_that_is_not_there_or_has_no_whole_line_is_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    assert read_log(path) is None
    path.write_bytes(json.dumps(HEADER).encode())
    assert read_log(path) is None


def test_scores_stay_within_log_k_and_are_sums_of_gains(run_tiny: RunTiny, tmp_path: Path) -> None:
    for step in run_tiny(tmp_path, BATCHBALD).steps[:-1]:
        assert step.scores[-1] <= step.log_draws + 1e-6
        assert step.scores[-1] == pytest.approx(sum(step.gains), abs=1e-5)
        assert min(step.gains) >= 0.0
    last = run_tiny(tmp_path, BATCHBALD).steps[-1]
    assert (last.chosen, last.gains, last.scores) == ([], [], [])
    assert run_tiny(tmp_path, BALD_KEPT).steps[0].log_draws == pytest.approx(1.609438)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    write_whole(path, {"a": 1})
    with pytest.raises(TypeError):
        write_whole(path, {"a": object()})
    assert json.loads(path.read_text()) == {"a": 1}
