"""What each command does: ask the experiments, run them, read their logs, print."""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from reproduce import experiments
from reproduce.drawing import draw_all
from reproduce.errors import UserError
from reproduce.methods import Method
from reproduce.published import runs_file
from reproduce.runs import Run, folder
from reproduce.settings import Experiment, smoke
from reproduce.tables import Row, accuracy_table, as_json, labels_table, made_with, rows
from reproduce.weights import AT_RANDOM, FROM_IMAGENET, IMAGENET, Weights
from reproduce.words import counted
from reproduce.workers import Place, run_all, steps_done

RUNS = Path("runs")
KEPT = Path("reproduce", "results")


def list_experiments(asked: argparse.Namespace) -> None:
    """Print each experiment with its title, methods and trials, and what each method is."""
    for experiment in experiments.EXPERIMENTS:
        names = ", ".join(method.name for method in experiment.methods)
        print(f"{experiment.name:20}{experiment.title}\n{'':20}{counted(experiment.trials, 'trial')} of {names}")
    print("\nmethods")
    known = {method.name: method for experiment in experiments.EXPERIMENTS for method in experiment.methods}
    for method in known.values():
        print(f"{method.name:20}{method.about}")


def run(asked: argparse.Namespace) -> None:
    """Run the trials asked for."""
    experiment = _at_scale(asked)
    methods = _methods(experiment, asked.methods)
    _check_device(asked.device)
    trials = range(experiment.trials) if asked.trials is None else asked.trials
    weights = _weights(experiment, asked.weights)
    runs = [replace(run, until=asked.until, weights=weights) for run in _runs(experiment, methods, trials, asked.scale)]
    place = Place(asked.out, asked.data, asked.device)
    run_all(runs, place, workers=asked.workers, progress=not asked.quiet)
    print(f"{counted(len(runs), 'run')} done, logs in {folder(asked.out, experiment, asked.scale)}")


def _check_device(name: str) -> None:
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise UserError(f"--device {name} is neither cpu nor cuda nor one of several, as cuda:1")
    count = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= count:
        seen = counted(count, "CUDA device") if count else "no CUDA device"
        raise UserError(f"--device {name}: torch sees {seen} here; leave it out to use the processor")


def table(asked: argparse.Namespace) -> None:
    """Print what the logs say."""
    experiment, found, _ = _read(asked)
    if asked.json:
        print(as_json(experiment, asked.scale, found))
        return
    _print_tables(experiment, found)


def figure(asked: argparse.Namespace) -> None:
    """Draw every figure of the experiment that its logs are enough for, and print where it is."""
    experiment, found, out = _read(asked)
    for path in draw_all(experiment, found, asked.scale, out, runs_file(asked.published), asked.data):
        print(path)


def status(asked: argparse.Namespace) -> None:
    """Print how many trials of each method are finished, and how far the others have got."""
    found = [entry for out in ([asked.out] if asked.out else [RUNS, KEPT]) for entry in _progress(out)]
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    for entry in found:
        finished = f"{entry['finished']} of {entry['trials']} trials finished"
        print(f"{entry['folder']}  {entry['method']}: {finished}{_under_way(entry['under_way'])}")
    if not found:
        print("nothing has been run yet")


def _under_way(step_of: Mapping[int, int]) -> str:
    at = {step: [trial for trial in step_of if step_of[trial] == step] for step in sorted(set(step_of.values()))}
    return "".join(f", trial{'s' * (len(t) > 1)} {', '.join(map(str, t))} at step {step}" for step, t in at.items())


def demo(asked: argparse.Namespace) -> None:
    """Run Repeated digits, then show the table and the figure."""
    experiment = experiments.DIGITS
    runs = _runs(experiment, experiment.methods, range(experiment.trials), "paper")
    run_all(runs, Place(asked.out, None, "cpu"), workers=asked.workers, progress=not asked.quiet)
    found = rows(experiment, "paper", asked.out, None)
    _print_tables(experiment, found)
    paths = draw_all(experiment, found, "paper", asked.out, None, None)
    print("\nFigures: " + ", ".join(map(str, paths)))


def _runs(experiment: Experiment, methods: Sequence[Method], trials: Iterable[int], scale: str) -> list[Run]:
    """Trial by trial; the dearest method, which an experiment names last, first, so that no core waits at the end."""
    return [Run(experiment, method, trial, scale) for trial in trials for method in reversed(methods)]


def _print_tables(experiment: Experiment, found: list[Row]) -> None:
    beside = f", {said}" if (said := made_with(found)) else ""
    print(f"{experiment.title}{beside}\n\n{accuracy_table(found)}")
    for target in experiment.targets:
        print(f"\n{labels_table(found, target)}")


def _at_scale(asked: argparse.Namespace) -> Experiment:
    experiment = experiments.named(asked.experiment)
    return smoke(experiment) if asked.scale == "smoke" else experiment


def _methods(experiment: Experiment, names: list[str] | None) -> list[Method]:
    known = {method.name: method for method in experiment.methods}
    unknown = [name for name in names or [] if name not in known]
    if unknown:
        raise UserError(f"{experiment.name} has no method {', '.join(unknown)}; it has {', '.join(known)}")
    return [known[name] for name in names or known]


def _weights(experiment: Experiment, source: str | None) -> Weights:
    if source is None:
        return IMAGENET
    if not experiment.settings.pretrained:
        raise UserError(f"--weights {source}: the network of {experiment.name} always starts at random; leave it out")
    if source not in (FROM_IMAGENET, AT_RANDOM) and not Path(source).is_file():
        raise UserError(f"--weights {source}: there is no such file; give one, {FROM_IMAGENET} or {AT_RANDOM}")
    return Weights(source)


def _read(asked: argparse.Namespace) -> tuple[Experiment, list[Row], Path]:
    experiment = _at_scale(asked)
    places = [asked.out] if asked.out else [RUNS, KEPT]
    for out in places:
        found = rows(experiment, asked.scale, out, runs_file(asked.published))
        if found:
            return experiment, found, out
    looked = " and ".join(str(folder(out, experiment, asked.scale)) for out in places)
    raise UserError(
        f"no step of {experiment.name} has been logged in {looked}: run `python -m reproduce run {experiment.name}`"
    )


def _progress(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for plain in experiments.EXPERIMENTS:
        for scale, experiment in (("paper", plain), ("smoke", smoke(plain))):
            for method in experiment.methods:
                entry = _progress_of(experiment, method, scale, out)
                if entry["finished"] or entry["under_way"]:
                    found.append(entry)
    return found


def _progress_of(experiment: Experiment, method: Method, scale: str, out: Path) -> dict[str, Any]:
    paths = folder(out, experiment, scale).glob(f"trial-*/{method.name}.jsonl")
    trials = sorted(int(path.parent.name.removeprefix("trial-")) for path in paths)
    done = {trial: steps_done(Run(experiment, method, trial, scale), out) for trial in trials}
    whole = experiment.settings.steps + 1
    return {
        "folder": str(folder(out, experiment, scale)),
        "method": method.name,
        "trials": max(experiment.trials, len(trials)),
        "finished": sum(steps == whole for steps in done.values()),
        "under_way": {trial: steps for trial, steps in done.items() if steps < whole},
    }
