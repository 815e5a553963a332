"""The `infoacq` command: predictions in a file in, the batch to label out."""

import argparse
import csv
import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from infoacq.candidates import Pool
from infoacq.files import read_array, read_indices
from infoacq.objective import Objective
from infoacq.objectives import BALD, BatchBALD, MeanStandardDeviation, PredictiveEntropy, Random, VariationRatios
from infoacq.pool import from_log_probs, from_logits, from_probs
from infoacq.progress import is_wanted, progress_bar
from infoacq.select import select_batch
from infoacq.selection import SaturationWarning, Selection

KINDS: dict[str, Callable[[Any], Pool]] = {
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
  infoacq select s3://bucket/pool.zarr --batch-size 10 --progress --out batch.csv
  infoacq select probs.npy --batch-size 10 --pending sent.txt --out batch.json

FILE holds an array (n, k, c) = (candidates, draws, classes): what each of k posterior draws of the model's parameters
(dropout masks kept for the whole pool, ensemble members) predicts of each candidate. A .npy file of more than 1 GiB and
a Zarr store are read shard by shard, as often as needed, and may be larger than memory (Zarr: pip install
'infoacq[zarr]'; the address may be of any fsspec store).

Columns of the result: index (the candidate's row in FILE), gain (what its label adds to those before it and to the
pending ones), its standard_error, and score (what the batch is worth so far), in nats. JSON holds more: the limit of
all scores, conditioned (what the pending ones are worth), and the first pick from which the ranking is noise.

Exit code 2: the input is wrong, one line says how; nothing is written then.
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
    except (OSError, TypeError, ValueError, LookupError, ImportError) as error:
        logging.getLogger("asyncio").disabled = True  # a store may still be reading, and would say so after our line
        print(f"infoacq: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="infoacq", description="Choose which unlabelled points to label next.")
    parser.add_argument("--version", action="version", version=f"infoacq {version('infoacq')}")
    commands = parser.add_subparsers(dest="command", required=True)
    select = commands.add_parser(
        "select",
        help="choose a batch from predictions in a file",
        description="Choose the candidates whose labels tell most, together, about the model's parameters.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = select.add_argument
    add("file", metavar="FILE", help=".npy, .npz or .zarr of predictions (n, k, c), or the address of a Zarr store")
    add("--kind", choices=KINDS, default="probs", help="what the numbers are (default: probs)")
    add("--objective", choices=OBJECTIVES, default="batchbald", help="what a batch is worth (default: batchbald)")
    add("--batch-size", type=int, required=True, metavar="N", help="how many candidates to choose")
    add("--seed", type=int, default=0, metavar="N", help="seed of sampled configurations and of random (default: 0)")
    add("--pending", type=Path, metavar="FILE", help="indices already sent to the labellers: text, .csv, .json or .npy")
    add("--array", metavar="NAME", help="which array of an .npz or .zarr to read, if it holds several")
    add("--max-configurations", type=int, metavar="N", help="of batchbald (default: as its error needs)")
    add("--progress", action=argparse.BooleanOptionalAction, help="a bar on standard error (default: on a terminal)")
    add("--out", type=Path, metavar="FILE", help="write .csv or .json here (default: CSV on standard output)")
    return parser


def _select(options: argparse.Namespace) -> Selection:
    if options.out is not None and options.out.suffix not in (".csv", ".json"):
        raise ValueError(f"--out must end in .csv or .json; got {options.out}.")
    if options.out is not None and not options.out.parent.is_dir():
        raise FileNotFoundError(f"--out: there is no folder {options.out.parent}; make it first.")
    objective = OBJECTIVES[options.objective]()
    if options.max_configurations is not None:
        if options.objective != "batchbald":
            raise ValueError(f"--max-configurations is of batchbald; {options.objective} samples none: leave it out.")
        objective = BatchBALD(options.max_configurations)
    pending = [] if options.pending is None else read_indices(options.pending)
    pool = KINDS[options.kind](read_array(options.file, options.array))
    shown = is_wanted() if options.progress is None else options.progress
    with warnings.catch_warnings(record=True) as caught, progress_bar(shown=shown) as map:
        warnings.simplefilter("always", SaturationWarning)
        selection = select_batch(pool, objective, options.batch_size, pending=pending, seed=options.seed, map=map)
    for warning in caught:
        print(f"infoacq: warning: {warning.message}", file=sys.stderr)
    return selection


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
    columns = selection.indices, selection.gains, selection.standard_errors, selection.scores
    writer.writerow(["index", "gain", "standard_error", "score"])
    writer.writerows(zip(*columns, strict=True))


def _write_json(selection: Selection, file: TextIO) -> None:
    result = {
        "index": selection.indices,
        "gain": selection.gains,
        "standard_error": selection.standard_errors,
        "score": selection.scores,
        "unit": selection.unit,
        "limit": selection.limit,
        "conditioned": selection.conditioned,
        "saturated_from": selection.saturated_from,
    }
    json.dump(result, file, indent=2)
    file.write("\n")
