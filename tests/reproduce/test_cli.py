"""The commands, from the command line to what they print."""

import json
from pathlib import Path

import pytest

from reproduce import commands
from reproduce.cli import main
from reproduce.experiments import EXPERIMENTS


@pytest.fixture(scope="module")
def smoke_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    asked = "run digits --scale smoke --methods bald --quiet --out"
    assert main([*asked.split(), str(out)]) == 0
    return out


def test_list_names_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    for experiment in EXPERIMENTS:
        assert f"{experiment.name} " in said
        assert all(f"\n{method.name} " in said for method in experiment.methods)


def test_status_table_and_figure_read_the_logs(smoke_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(smoke_run)
    assert main(["status", "--json", "--out", out]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [(e["method"], e["finished"], e["under_way"]) for e in entries] == [("bald", 1, {})]
    assert main(["table", "digits", "--scale", "smoke", "--out", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [entry["acquired"] for entry in told["methods"]] == [[0, 10, 20]]
    assert main(["table", "digits", "--scale", "smoke", "--out", out]) == 0
    assert "Labels acquired, beyond the 20 initial ones" in capsys.readouterr().out
    assert main(["figure", "digits", "--scale", "smoke", "--out", out]) == 0
    assert Path(capsys.readouterr().out.strip()).stat().st_size > 10_000
    before = (smoke_run / "digits" / "smoke" / "trial-0" / "bald.jsonl").read_bytes()
    assert main(["run", "digits", "--scale", "smoke", "--methods", "bald", "--out", out]) == 0  # nothing is left to do
    assert (smoke_run / "digits" / "smoke" / "trial-0" / "bald.jsonl").read_bytes() == before


def test_a_log_half_way_shows_in_the_status(
    smoke_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Path("digits", "smoke", "trial-0", "bald.jsonl")
    (tmp_path / log).parent.mkdir(parents=True)
    (tmp_path / log).write_bytes(b"".join((smoke_run / log).read_bytes().splitlines(keepends=True)[:3]))
    assert main(["status", "--out", str(tmp_path)]) == 0
    assert "bald: 0 of 1 trials finished, trial 0 at step 2\n" in capsys.readouterr().out


def test_trials_at_the_same_step_are_shown_together() -> None:
    assert commands._under_way({}) == ""
    assert commands._under_way({0: 21, 1: 4, 2: 21, 5: 21}) == ", trial 1 at step 4, trials 0, 2, 5 at step 21"


def test_a_finished_log_of_other_settings_is_not_taken_for_done(
    smoke_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = Path("digits", "smoke", "trial-0", "bald.jsonl")
    (tmp_path / log).parent.mkdir(parents=True)
    header, *steps = (smoke_run / log).read_text().splitlines()
    changed = json.loads(header)
    changed["settings"]["draws"] += 1
    (tmp_path / log).write_text("\n".join([json.dumps(changed), *steps]) + "\n")
    assert main(["run", "digits", "--scale", "smoke", "--methods", "bald", "--out", str(tmp_path)]) == 2
    assert "was made with other settings (draws: 11 there, 10 now)" in capsys.readouterr().err


def test_nothing_run_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "nothing has been run yet\n"
    assert main(["table", "mnist", "--out", str(tmp_path)]) == 2
    assert "python -m reproduce run mnist" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("run fashion", "no experiment is called 'fashion'"),
        ("run digits --methods batchbald batchbold", "digits has no method batchbold; it has random, bald, batchbald"),
        ("run digits --device gpu", "--device gpu is neither cpu nor cuda nor one of several, as cuda:1"),
        ("run digits --device meta", "--device meta is neither cpu nor cuda"),
        ("run digits --device cuda:99", "--device cuda:99: torch sees"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    asked: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*asked.split(), "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "numbers"), [("0-5", [0, 1, 2, 3, 4, 5]), ("0,2", [0, 2]), ("3", [3]), ("1-2,7", [1, 2, 7])]
)
def test_trials_are_read_as_ranges(text: str, numbers: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[int]] = []
    monkeypatch.setattr(commands, "run_all", lambda runs, place, **how: asked.append([run.trial for run in runs]))
    assert main(["run", "digits", "--methods", "random", "--trials", text]) == 0
    assert asked == [numbers]


@pytest.mark.parametrize("text", ["", "a-b", "5-0", "-1"])
def test_trials_that_are_none_are_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "digits", f"--trials={text}"])
    assert end.value.code == 2
    assert "--trials" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-2", "two", "1.5"])
def test_workers_are_at_least_one(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "digits", f"--workers={number}"])
    assert end.value.code == 2
    assert f"'{number}' is no whole number from 1 on" in capsys.readouterr().err


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "python -m reproduce run mnist-quick --data DIR" in capsys.readouterr().out
