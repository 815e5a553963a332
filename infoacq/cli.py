"""The `infoacq` command: predictions in a file in, the batch to label out."""

import argparse
import csv
import json
import os
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO
from zipfile import BadZipFile

import numpy as np

from infoacq.objective import Objective
from infoacq.objectives import BALD, BatchBALD, MeanStandardDeviation, PredictiveEntropy, Random, VariationRatios
from infoacq.pool import ArrayPool, from_log_probs, from_logits, from_probs
from infoacq.select import select_batch
from infoacq.selection import SaturationWarning, Selection

KINDS: dict[str, Callable[[Any], ArrayPool]] = {
    "probs": from_probs,
    "log-probs": from_log_probs,
    "logits": from_logits,
}
OBJECTIVES: dict[str, Callable[[], Objective[Any]]] = {
    "batchbald": BatchBALD,
    "bald": BALD,
    "entropy": PredictiveEntropy,
    "variation-ratios": VariationRatios,
    "mean-std": MeanStandardDeviation,
    "random": Random,
}
EXAMPLES = """\
examples:
  infoacq select probs.npy --objective batchbald --batch-size 10 --seed 0
  infoacq select logits.npz --array logits --kind logits --batch-size 5 --out batch.csv
  infoacq select probs.npy --batch-size 10 --pending sent.txt --out batch.json

FILE holds an array (n, k, c) = (candidates, draws, classes): what each of k posterior draws of the model's parameters
(dropout masks kept for the whole pool, ensemble members) predicts of each candidate. Columns of the result: index (the
candidate's row in FILE), gain (what its label adds to those before it) and score (what the batch is worth so far), both
in nats. Exit code 2: the input is wrong, one line says how; nothing is written then.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        selection = _select(options)
        if options.out is None:
            _write_csv(selection, sys.stdout)
        else:
            with _written_whole(options.out) as file:
                (_write_json if options.out.suffix == ".json" else _write_csv)(selection, file)
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, TypeError, ValueError, LookupError) as error:
        print(f"infoacq: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infoacq", description="Choose which unlabelled points to label next.")
    commands = parser.add_subparsers(dest="command", required=True)
    select = commands.add_parser(
        "select",
        help="choose a batch from predictions in a file",
        description="Choose the candidates whose labels tell most, together, about the model's parameters.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = select.add_argument
    add("file", metavar="FILE", type=Path, help=".npy (memory-mapped) or .npz of predictions (n, k, c)")
    add("--kind", choices=KINDS, default="probs", help="what the numbers are (default: probs)")
    add("--objective", choices=OBJECTIVES, default="batchbald", help="what a batch is worth (default: batchbald)")
    add("--batch-size", type=int, required=True, metavar="N", help="how many candidates to choose")
    add("--seed", type=int, default=0, metavar="N", help="seed of sampled configurations and of random (default: 0)")
    add("--pending", type=Path, metavar="FILE", help="indices already sent to the labellers: text, .json or .npy")
    add("--array", metavar="NAME", help="which array of an .npz to read, if it holds several")
    add("--max-configurations", type=int, metavar="N", help="of batchbald (default: as its error needs)")
    add("--out", type=Path, metavar="FILE", help="write .csv or .json here (default: CSV on standard output)")
    return parser


def _select(options: argparse.Namespace) -> Selection:
    if options.out is not None and options.out.suffix not in (".csv", ".json"):
        raise ValueError(f"--out must end in .csv or .json; got {options.out}.")
    if options.out is not None and not options.out.parent.is_dir():
        raise FileNotFoundError(f"--out: there is no folder {options.out.parent}; make it first.")
    batchbald = options.objective == "batchbald"
    objective = BatchBALD(options.max_configurations) if batchbald else OBJECTIVES[options.objective]()
    pending = [] if options.pending is None else _read_indices(options.pending)
    pool = KINDS[options.kind](_read_array(options.file, options.array))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SaturationWarning)
        selection = select_batch(pool, objective, options.batch_size, pending=pending, seed=options.seed)
    for warning in caught:
        print(f"infoacq: warning: {warning.message}", file=sys.stderr)
    return selection


def _read_array(path: Path, name: str | None) -> np.ndarray:
    """The array in a .npy or .npz file; a .npy file is memory-mapped.

    Raises:
        OSError, ValueError, LookupError: if there is no such file or array, with the way out.
    """
    if path.suffix not in (".npy", ".npz"):
        raise ValueError(f"{path} must be a .npy or .npz file: numpy.save writes one.")
    try:
        return _loaded(path, name)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (ValueError, EOFError, OSError, BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as an array, it may be cut off: {error}") from error


def _loaded(path: Path, name: str | None) -> np.ndarray:
    loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        if name is None and len(loaded.files) != 1:
            raise LookupError(f"{path} holds {', '.join(loaded.files) or 'no array'}: choose one with --array NAME.")
        if name is not None and name not in loaded.files:
            raise LookupError(f"{path} holds no array {name!r}, but {', '.join(loaded.files)}.")
        array: np.ndarray = loaded[name or loaded.files[0]]
        return array


def _read_indices(path: Path) -> list[int]:
    """Whole numbers from a .npy file, a .json list, a CSV written by this command, or text with white space.

    Raises:
        OSError, ValueError: if they cannot be read.
    """
    if path.suffix == ".npy":
        return _read_array(path, None).reshape(-1).tolist()
    try:
        text = path.read_text()
        if path.suffix == ".json":
            stored = json.loads(text)
            return stored["index"] if isinstance(stored, dict) else list(stored)
        if path.suffix == ".csv":
            return [int(row["index"]) for row in csv.DictReader(text.splitlines())]
        return [int(value) for value in text.replace(",", " ").split()]
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{path} must hold whole numbers, a list or the column index; got {error!r}.") from error


@contextmanager
def _written_whole(path: Path) -> Iterator[TextIO]:
    """A file that takes its name only once it is complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("x", newline="") as file:
            yield file
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_csv(selection: Selection, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["index", "gain", "score"])
    writer.writerows(zip(selection.indices, selection.gains, selection.scores, strict=True))


def _write_json(selection: Selection, file: TextIO) -> None:
    result = {
        "index": selection.indices,
        "gain": selection.gains,
        "standard_error": selection.standard_errors,
        "score": selection.scores,
        "unit": selection.unit,
        "limit": selection.limit,
        "saturated_from": selection.saturated_from,
    }
    json.dump(result, file, indent=2)
    file.write("\n")
