"""The command line of the experiments: what may be asked, and the one place that turns errors into one line."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from reproduce import commands
from reproduce.errors import UserError
from reproduce.experiments import EXPERIMENTS

DATA = "the folder that holds MNIST/raw, EMNIST/raw or CINIC-10/train"
DESCRIPTION = """\
The experiments of BatchBALD (Kirsch et al. 2019), from training to table and figure.

  python -m reproduce demo                                    three minutes, no download: what it is all about
  python -m reproduce run mnist-quick --data DIR              one MNIST trial
  python -m reproduce run repeated-mnist --methods bald batchbald --trials 0-2 --workers 2
  python -m reproduce run cinic10 --data DIR --weights none --scale smoke
  python -m reproduce table repeated-mnist                    what the logs say, ours beside the paper's
  python -m reproduce figure repeated-mnist

Each step is written to a log as soon as it is done. A run that was stopped, however hard, goes on where its log ends
when the same command is given again, and finds the same as one that was not; a finished one is not run again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0, 2 for what the person at the keyboard can put right, 130 for an interrupt."""
    asked = _parser().parse_args(arguments)
    try:
        asked.command(asked)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except UserError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("reproduce: interrupted; the same command goes on from the logs", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m reproduce", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_list(verbs)
    _add_run(verbs)
    _add_readers(verbs)
    _add_demo(verbs)
    return parser


def _add_list(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    listing = verbs.add_parser("list", help="the experiments and their methods")
    listing.set_defaults(command=commands.list_experiments)


def _add_run(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = verbs.add_parser("run", help="run trials of an experiment, or go on with them")
    _experiment_and_scale(run)
    run.add_argument("--methods", nargs="+", metavar="METHOD", help="some of its methods (see list; default: all)")
    run.add_argument("--trials", type=_trials, metavar="0-5", help="trial numbers, as 0-5 or 0,2 (default: its own)")
    run.add_argument("--until", type=_positive, metavar="N", help="stop for now when N points are acquired")
    run.add_argument("--data", type=Path, metavar="DIR", help=f"{DATA} (default: downloaded, but for CINIC-10)")
    run.add_argument("--weights", metavar="FILE", help="cinic10: imagenet (default), none, or a file of vgg16_bn's")
    run.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1 (default: cpu)")
    run.add_argument("--out", type=Path, default=commands.RUNS, help="where logs are kept (default: %(default)s)")
    _workers_and_quiet(run)
    run.set_defaults(command=commands.run)


def _add_readers(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    where = f"folder of results (default: {commands.RUNS}, or {commands.KEPT} if nothing was run)"
    table = verbs.add_parser("table", help="accuracies and labels needed, ours beside the published")
    figure = verbs.add_parser("figure", help="accuracy over labels and what else the logs allow, beside them")
    for reader in (table, figure):
        _experiment_and_scale(reader)
        reader.add_argument("--out", type=Path, help=where)
        reader.add_argument("--published", type=Path, metavar="FILE", help="published_runs.json, for whole curves")
    table.add_argument("--json", action="store_true", help="curves as JSON")
    table.set_defaults(command=commands.table)
    figure.add_argument("--data", type=Path, metavar="DIR", help="the images, to draw those that were chosen")
    figure.set_defaults(command=commands.figure)
    status = verbs.add_parser("status", help="how far the runs have got")
    status.add_argument("--out", type=Path, help=f"folder of results (default: {commands.RUNS} and {commands.KEPT})")
    status.add_argument("--json", action="store_true", help="the same as JSON")
    status.set_defaults(command=commands.status)


def _add_demo(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    demo = verbs.add_parser("demo", help="Repeated digits: random, BALD and BatchBALD side by side")
    demo.add_argument("--out", type=Path, default=commands.RUNS, help="where logs are kept (default: %(default)s)")
    _workers_and_quiet(demo)
    demo.set_defaults(command=commands.demo)


def _experiment_and_scale(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(experiment.name for experiment in EXPERIMENTS)
    parser.add_argument("experiment", metavar="EXPERIMENT", help=names)
    parser.add_argument(
        "--scale",
        choices=("paper", "smoke"),
        default="paper",
        help="smoke: less of everything, in minutes; kept apart (default: paper)",
    )


def _workers_and_quiet(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers", type=_positive, default=2, metavar="N", help="runs at a time, one core each (default: 2)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def _positive(text: str) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def _trials(text: str) -> list[int]:
    """The trial numbers of "0-5", "0,2" or "3"."""
    numbers: list[int] = []
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    except ValueError:
        numbers = []
    if not numbers:
        raise argparse.ArgumentTypeError(f"{text!r} holds no trial: give numbers as 0-5 or 0,2")
    return numbers
