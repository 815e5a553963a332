"""Why the published accuracies on Repeated MNIST are lower than ours with equally many random labels.

    python -m benchmarks.early_stopping --data DIR [--published FILE] [--acquired 50 100] [--save]

The very points that the authors' runs of random choice had labelled are trained on again, with the same settings, and
stopped by one of two rules: the validation accuracy has not risen for three epochs (as the paper says), or the
validation loss has not fallen for three. Epochs and test accuracies stand beside those that were published.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import nn
from tqdm import tqdm

from infoacq.posteriors.mc_dropout import predict_probs
from models.mnist_cnn import MNISTCNN
from reproduce import training
from reproduce.data import DataSet
from reproduce.evaluation import accuracy_and_nll
from reproduce.experiments import REPEATED_MNIST
from reproduce.published import read_runs, runs_file
from reproduce.training import Labelled

RESULTS = Path(__file__).parent / "results" / "early_stopping.json"
RULES = ("accuracy", "loss")


@dataclass(frozen=True)
class Case:
    """The labelled points of one published run after some steps, and what it found there."""

    run: int
    acquired: int
    labelled: Int[np.ndarray, " n"]
    epochs: int
    accuracy: float


def main() -> None:
    """Train on each of the published sets by both rules."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=None, help="where MNIST is (default: downloaded)")
    parser.add_argument("--published", type=Path, default=None, metavar="FILE", help="published_runs.json")
    parser.add_argument("--acquired", nargs="+", type=int, default=[50, 100], metavar="N")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    path = runs_file(options.published)
    if path is None:
        parser.error("the published runs are wanted: give --published FILE (published_runs.json)")
    data = REPEATED_MNIST.settings.data.load(options.data)
    cases = published_cases(read_runs(path), options.acquired)
    rows = [row(case, data, rule) for case in tqdm(cases, unit="set", disable=None) for rule in RULES]
    for line in summary(rows):
        print(line)
    if options.save:
        RESULTS.write_text(json.dumps({"torch": torch.__version__, "rows": rows}, indent=1) + "\n")


def published_cases(runs: list[dict[str, Any]], acquired: list[int]) -> list[Case]:
    """The sets of the runs of random choice, whose points are numbered from 0 to 3 · 60,000, a copy after the other."""
    group = REPEATED_MNIST.published["random"]
    cases = []
    for number, run in enumerate(run for run in runs if run["group"] == group):
        for wanted in acquired:
            step = wanted // run["batch_size"]
            chosen = [index for batch in run["chosen"][:step] for index in batch]
            labelled = np.array([*run["initial_samples"], *chosen])
            cases.append(Case(number, wanted, labelled, run["epochs"][step], run["accuracy"][step]))
    return cases


def row(case: Case, data: DataSet, rule: str) -> dict[str, Any]:
    """What training on a set by a rule finds."""
    settings = REPEATED_MNIST.settings
    rng = np.random.default_rng(case.run)
    rest = np.setdiff1d(np.arange(len(data.train_labels)), case.labelled)
    points, validation = (
        Labelled(data.train_images[index], data.train_labels[index])
        for index in (case.labelled, rng.choice(rest, settings.validation, replace=False))
    )
    model, epochs = train_by(rule, points, validation, seed=case.run)
    probs = predict_probs(model, data.test_images, settings.draws, seed=case.run, progress=False)
    accuracy, _ = accuracy_and_nll(probs, data.test_labels)
    return {
        "run": case.run,
        "acquired": case.acquired,
        "rule": rule,
        "epochs": epochs,
        "accuracy": round(accuracy, 4),
        "published_epochs": case.epochs,
        "published_accuracy": case.accuracy,
    }


def train_by(rule: str, points: Labelled, validation: Labelled, seed: int) -> tuple[nn.Module, int]:
    """A new model with the weights of its best epoch, and the number of epochs."""
    settings = REPEATED_MNIST.settings.training
    torch.manual_seed(seed)
    model = MNISTCNN().to(memory_format=torch.channels_last)
    optimiser = torch.optim.Adam(model.parameters(), settings.learning_rate)
    rng = np.random.default_rng(seed)
    measure = training.accuracy if rule == "accuracy" else minus_loss
    epochs = training.fit(
        model,
        lambda: training.train_epoch(model, optimiser, points, settings, rng),
        lambda: measure(model, validation),
        settings,
    )
    return model, epochs


@torch.no_grad()
def minus_loss(model: nn.Module, data: Labelled) -> float:
    """The mean log-likelihood (nats) of the points' classes with dropout off."""
    model.eval()
    return -float(nn.functional.cross_entropy(model(training.channels_last(data.images)), data.labels))


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Medians over the runs, a line for each number of labels and rule."""
    lines = [f"{'acquired':>8}  {'stopped by':12} {'epochs':>6} {'accuracy':>8}"]
    for acquired in sorted({row["acquired"] for row in rows}):
        these = [row for row in rows if row["acquired"] == acquired]
        found = {rule: [(row["epochs"], row["accuracy"]) for row in these if row["rule"] == rule] for rule in RULES} | {
            "published": [(row["published_epochs"], row["published_accuracy"]) for row in these]
        }
        for name, pairs in found.items():
            epochs, accuracies = zip(*pairs, strict=True)
            lines.append(f"{acquired:8}  {name:12} {median(epochs):6.1f} {100 * median(accuracies):7.1f}%")
    return lines


if __name__ == "__main__":
    main()
