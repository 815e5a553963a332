"""The logs: a line of JSON with the settings, then one a step, each on the disk before the next step begins."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from reproduce.curves import Trajectory, hours
from reproduce.errors import UserError


@dataclass(frozen=True)
class Step:
    """What one step found; indices are the data set's, gains and scores are nats where the objective's are.

    Attributes:
        labelled: labels that the model was trained on.
        chosen: what is labelled next, in pick order; empty in the last step.
        log_draws: log K (nats): a batch can tell no more of K draws.
        nll: mean negative log-likelihood of the test set (nats).
    """

    step: int
    labelled: int
    chosen: list[int]
    targets: list[int]
    gains: list[float]
    scores: list[float]
    log_draws: float
    accuracy: float
    nll: float
    epochs: int
    train_s: float
    score_s: float
    choose_s: float


@dataclass(frozen=True)
class Log:
    """A log as far as it has been written."""

    header: dict[str, Any]
    steps: list[Step]

    @property
    def trajectory(self) -> Trajectory:
        """The test accuracy over labels acquired beyond the initial ones."""
        first = self.header["initial_labels"]
        took = hours([s.train_s for s in self.steps], [s.score_s + s.choose_s for s in self.steps])
        return Trajectory([s.labelled - first for s in self.steps], [s.accuracy for s in self.steps], took)


def read_log(path: Path) -> Log | None:
    """The whole lines of a log; None where not even the header is there.

    Raises:
        UserError: a line in the middle is damaged.
    """
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    entries = [_parse(line, path, number) for number, line in enumerate(lines, 1) if line.endswith(b"\n")]
    return Log(entries[0], [Step(**entry) for entry in entries[1:]]) if entries else None


@contextmanager
def open_log(path: Path, header: Mapping[str, Any]) -> Iterator[tuple[list[Step], Callable[[Step], None]]]:
    """The steps that a log holds and the function that appends one, for one process at a time.

    A new log begins with the header. An old one must have been made with the same settings; a last line that was
    only half written, when its run was killed, is cut off.

    Raises:
        UserError: another process writes this log, it was made with other settings, or it is damaged.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UserError(f"another process is writing {path}: wait for it, or give another --out") from error
        log = read_log(path)
        whole = path.read_bytes().rfind(b"\n") + 1
        file.truncate(whole)
        if log is None:
            _append(file, header)
        else:
            check_same_settings(log.header, header, path)
        yield (log.steps if log else []), lambda step: _append(file, asdict(step))


def check_same_settings(stored: Mapping[str, Any], wanted: Mapping[str, Any], path: Path) -> None:
    """Refuse to take what was run otherwise for the same.

    Raises:
        UserError: the settings differ; the message names them.
    """
    different = _differences(stored["settings"], wanted["settings"])
    if different:
        raise UserError(
            f"{path} was made with other settings ({'; '.join(different)}): give another --out, or remove it"
        )


def write_whole(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file so that it is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(content) + "\n")
    draft.replace(path)


def _differences(old: Any, new: Any, name: str = "") -> list[str]:
    """What differs; a setting that one side does not know came later, with what was done before as its default."""
    if isinstance(old, dict) and isinstance(new, dict):
        both = sorted(old.keys() & new.keys())
        return [found for key in both for found in _differences(old[key], new[key], f"{name}.{key}".lstrip("."))]
    return [] if old == new else [f"{name}: {old} there, {new} now"]


def _append(file: IO[bytes], entry: Mapping[str, Any]) -> None:
    file.write(json.dumps(entry, separators=(",", ":")).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())


def _parse(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        entry: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise UserError(f"line {number} of {path} is damaged ({error}): remove the file and run again") from error
    return entry
