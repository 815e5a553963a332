"""The `infoacq` command as a process on files: what it writes, and what it says when it cannot."""

import csv
import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import infoacq
from infoacq import BALD, BatchBALD, Random, from_log_probs, select_batch
from tests import oracles
from tests.predictions import dirichlet

POOL = dirichlet(5, 30, 8, 3).astype(np.float32)


def run(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    """`python -m infoacq …` in a folder."""
    # NumPy leaves a file open that turns out to be no archive.
    strict = ["-W", "error", "-W", "ignore::ResourceWarning"]
    command = [sys.executable, *strict, "-m", "infoacq", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "probs.npy", POOL)
    np.savez(tmp_path / "one.npz", anything=POOL)
    np.savez_compressed(tmp_path / "two.npz", train=POOL[:3], pool=POOL)
    np.save(tmp_path / "logs.npy", np.log(POOL))
    (tmp_path / "sent.txt").write_text("3, 11\n7\n")
    (tmp_path / "sent.json").write_text("[3, 11, 7]")
    np.save(tmp_path / "sent.npy", np.array([3, 11, 7]))
    return tmp_path


def csv_columns(text: str) -> tuple[list[int], list[float], list[float]]:
    rows = list(csv.DictReader(text.splitlines()))
    return [int(r["index"]) for r in rows], [float(r["gain"]) for r in rows], [float(r["score"]) for r in rows]


def test_csv_on_standard_output_is_what_select_batch_returns(folder: Path) -> None:
    done = run("select", "probs.npy", "--batch-size", 5, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    wanted = select_batch(POOL, BatchBALD(), 5, seed=0)
    assert csv_columns(done.stdout) == (wanted.indices, wanted.gains, wanted.scores)
    errors = [float(row["standard_error"]) for row in csv.DictReader(done.stdout.splitlines())]
    assert errors == wanted.standard_errors


def test_a_compressed_archive_an_objective_a_seed_and_json(folder: Path) -> None:
    options = ("--array", "pool", "--objective", "random", "--seed", 7, "--out", "batch.json")
    assert run("select", "two.npz", "--batch-size", 4, *options, folder=folder).returncode == 0
    wanted = select_batch(POOL, Random(), 4, seed=7)
    stored = json.loads((folder / "batch.json").read_text())
    assert (stored["index"], stored["gain"], stored["score"]) == (wanted.indices, wanted.gains, wanted.scores)
    assert stored["unit"] == "uniform number"
    assert stored["saturated_from"] is None


def test_log_probabilities_and_sampled_configurations(folder: Path) -> None:
    options = ("--kind", "log-probs", "--max-configurations", 20, "--seed", 3)
    done = run("select", "logs.npy", "--batch-size", 5, *options, folder=folder)
    wanted = select_batch(from_log_probs(np.log(POOL)), BatchBALD(max_configurations=20), 5, seed=3)
    assert csv_columns(done.stdout)[:2] == (wanted.indices, wanted.gains)


@pytest.mark.parametrize("pending", ["sent.txt", "sent.json", "sent.npy"])
def test_pending_files_of_every_kind(folder: Path, pending: str) -> None:
    done = run("select", "one.npz", "--objective", "bald", "--batch-size", 4, "--pending", pending, folder=folder)
    wanted = select_batch(POOL, BALD(), 4, pending=[3, 11, 7])
    assert csv_columns(done.stdout)[:2] == (wanted.indices, wanted.gains)


@pytest.mark.parametrize("text", ["\ufeffindex,gain\n3,0.1\n11,0.2\n7,0.1\n", "gain;index\n0.1;3\n0.2;11\n0.1;7\n"])
def test_pending_files_that_a_spreadsheet_wrote(folder: Path, text: str) -> None:
    (folder / "sheet.csv").write_text(text, encoding="utf-8")
    done = run("select", "probs.npy", "--batch-size", 4, "--pending", "sheet.csv", folder=folder)
    assert csv_columns(done.stdout)[0] == select_batch(POOL, BatchBALD(), 4, pending=[3, 11, 7], seed=0).indices


@pytest.mark.parametrize("first", ["first.csv", "first.json"])
def test_a_batch_that_was_written_is_read_as_pending(folder: Path, first: str) -> None:
    assert run("select", "probs.npy", "--batch-size", 3, "--out", first, folder=folder).returncode == 0
    done = run("select", "probs.npy", "--batch-size", 2, "--pending", first, folder=folder)
    wanted = select_batch(POOL, BatchBALD(), 5, seed=0)
    assert csv_columns(done.stdout)[0] == wanted.indices[3:]


def test_what_is_pending_is_worth_is_told_in_json(folder: Path) -> None:
    options = ("--pending", "sent.txt", "--out", "batch.json")
    assert run("select", "probs.npy", "--batch-size", 2, *options, folder=folder).returncode == 0
    worth = oracles.batchbald(POOL[[3, 11, 7]].astype(float).tolist())
    assert json.loads((folder / "batch.json").read_text())["conditioned"] == pytest.approx(worth, abs=1e-5)


def test_the_version_is_the_installed_one(folder: Path) -> None:
    done = run("--version", folder=folder)
    assert (done.returncode, done.stdout) == (0, f"infoacq {metadata.version('infoacq')}\n")
    assert infoacq.__version__ == metadata.version("infoacq")


def test_saturation_is_one_line_on_standard_error(folder: Path) -> None:
    np.save(folder / "few.npy", dirichlet(1, 30, 2, 3, 0.1))
    done = run("select", "few.npy", "--batch-size", 9, folder=folder)
    assert done.returncode == 0
    assert done.stderr.startswith("infoacq: warning: BatchBALD: from pick")
    assert done.stderr.count("\n") == 1


def broken(folder: Path) -> None:
    """Files that are not what their names say."""
    whole = (folder / "probs.npy").read_bytes()
    (folder / "cut.npy").write_bytes(whole[: len(whole) // 2])
    (folder / "head.npy").write_bytes(whole[:5])
    with (folder / "more.npy").open("wb") as file:
        wanted = {"shape": (10**9, 1000, 10), "fortran_order": False, "descr": "<f4"}
        np.lib.format.write_array_header_1_0(file, wanted)
        file.write(bytes(400))
    (folder / "empty.npy").write_bytes(b"")
    archive = (folder / "two.npz").read_bytes()
    (folder / "cut.npz").write_bytes(archive[: len(archive) // 2])
    (folder / "spoilt.npz").write_bytes(archive[:700] + bytes(300) + archive[1000:])
    (folder / "text.npy").write_text("0.5 0.5\n")
    np.save(folder / "objects.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.savez(folder / "objects.npz", np.array([{"a": 1}], dtype=object))
    np.save(folder / "flat.npy", POOL[:, 0])
    np.save(folder / "whole.npy", np.arange(24).reshape(2, 3, 4))
    nan = POOL.copy()
    nan[4, 2, 1] = np.nan
    np.save(folder / "nan.npy", nan)
    (folder / "words.txt").write_text("three")
    (folder / "words.json").write_text('{"chosen": [1]}')
    (folder / "words.csv").write_text("row\n1\n")
    (folder / "probs.pt").write_bytes(whole)
    (folder / "folder.npy").mkdir()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing.npy"], "No such file or directory: 'missing.npy'"),
        (["probs.pt"], "probs.pt must be a .npy or .npz file, or a .zarr store"),
        (["folder.npy"], "Is a directory"),
        (["cut.npy"], "cut.npy cannot be read as an array, it may be cut off"),
        (["head.npy"], "head.npy cannot be read as an array"),
        (["more.npy"], "more.npy cannot be read as an array, it may be cut off"),
        (["probs.npy", "--array", "probs"], "probs.npy holds one array without a name: leave out --array probs"),
        (["probs.npy", "--kind", "logits"], "these are probabilities, and a softmax would flatten them"),
        (["empty.npy"], "empty.npy cannot be read as an array"),
        (["cut.npz"], "cut.npz cannot be read as an array"),
        (["spoilt.npz", "--array", "pool"], "spoilt.npz cannot be read as an array"),
        (["text.npy"], "text.npy cannot be read as an array"),
        (["objects.npy"], "objects.npy cannot be read as an array"),
        (["objects.npz"], "objects.npz cannot be read as an array"),
        (["two.npz"], "two.npz holds train, pool: choose one with --array NAME"),
        (["two.npz", "--array", "test"], "two.npz holds no array 'test', but train, pool"),
        (["flat.npy"], "must have shape (n, k, c) = (candidates, draws, classes); got (30, 3)"),
        (["whole.npy"], "must hold floating-point numbers; got int64"),
        (["nan.npy"], "candidate 4, draw 2 is not finite"),
        (["logs.npy"], "Use infoacq.from_log_probs"),
        (["probs.npy", "--batch-size", "31"], "at most the 30 candidates left in the pool; got 31"),
        (["probs.npy", "--batch-size", "0"], "batch_size must be at least 1; got 0"),
        (["probs.npy", "--seed", "-1"], "seed must be at least 0; got -1"),
        (["probs.npy", "--max-configurations", "0"], "max_configurations must be at least 2; got 0"),
        (
            ["probs.npy", "--objective", "bald", "--max-configurations", "9"],
            "--max-configurations is of batchbald; bald samples none: leave it out",
        ),
        (["probs.npy", "--pending", "words.txt"], "words.txt must hold whole numbers"),
        (["probs.npy", "--pending", "words.json"], "words.json must hold whole numbers"),
        (["probs.npy", "--pending", "words.csv"], "words.csv must hold whole numbers"),
        (["probs.npy", "--pending", "nan.npy"], "pending must be whole numbers"),
        (["probs.npy", "--out", "batch.txt"], "--out must end in .csv or .json; got batch.txt"),
        (["probs.npy", "--out", "nowhere/batch.csv"], "there is no folder nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_input_is_one_line_and_exit_code_2_and_writes_nothing(
    folder: Path, arguments: list[str], message: str
) -> None:
    broken(folder)
    before = sorted(path.name for path in folder.iterdir())
    size = [] if "--batch-size" in arguments else ["--batch-size", "3"]
    done = run("select", *arguments, *size, folder=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("infoacq: error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert message in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
