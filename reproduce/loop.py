"""The active-learning loop of one run: train, test, score the pool, choose, label, log, and again."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from infoacq import BALD, PoolSplit, SaturationWarning, Selection, select_batch
from infoacq.posteriors.mc_dropout import predict_probs
from reproduce.data import DataSet
from reproduce.errors import UserError
from reproduce.evaluation import Batches, accuracy_and_nll
from reproduce.results import Step, open_log
from reproduce.runs import Run
from reproduce.splits import stored_split, validation_points
from reproduce.surroundings import header
from reproduce.training import Labelled, train


@dataclass(frozen=True)
class Choice:
    """Positions in the pool, with what the selection says of them, and the seconds it took."""

    positions: Int[np.ndarray, " chosen"]
    gains: list[float]
    scores: list[float]
    score_s: float
    choose_s: float


NO_CHOICE = Choice(np.array([], dtype=np.int64), [], [], 0.0, 0.0)


def run_trial(run: Run, data: DataSet, out: Path, device: torch.device) -> None:
    """Run from where the log ends to the last step; nothing is done for a run that is finished.

    Raises:
        UserError: the log can't be gone on with.
    """
    log = run.log(out)
    split = stored_split(log.with_name("split.json"), run.experiment, run.trial, data)
    with open_log(log, header(run, split, data, device)) as (steps, append):
        split = replay(split, steps, log)
        for number in range(len(steps), run.last_step + 1):
            step, split = one_step(run, number, split, data, device)
            append(step)


def replay(split: PoolSplit, steps: Sequence[Step], log: Path) -> PoolSplit:
    """The split after the steps that were logged.

    Raises:
        UserError: a logged choice is not in the pool.
    """
    for step in steps:
        if not np.isin(step.chosen, split.pool).all():
            raise UserError(f"step {step.step} of {log} chose points that are not in its pool: remove the log")
        split = split.acquire(np.searchsorted(split.pool, step.chosen))
    return split


def one_step(run: Run, number: int, split: PoolSplit, data: DataSet, device: torch.device) -> tuple[Step, PoolSplit]:
    """What a step finds, and the split after it."""
    settings = run.experiment.settings
    start = perf_counter()
    parts = (split.labelled, validation_points(settings, split, data.share))
    labelled, validation = (labelled_points(data, index, device) for index in parts)
    model, epochs = train(run.network, labelled, validation, settings.training, run.seed(number, "training"))
    trained = perf_counter()
    accuracy, nll = evaluate(run, number, model, data)
    chosen = choose(run, number, model, split, data, device) if number < settings.steps else NO_CHOICE
    index = split.indices(chosen.positions)
    step = Step(
        step=number,
        labelled=len(split.labelled),
        chosen=index.tolist(),
        targets=data.train_labels[index].tolist(),
        gains=_rounded(chosen.gains),
        scores=_rounded(chosen.scores),
        log_draws=round(math.log(run.draws), 6),
        accuracy=round(accuracy, 6),
        nll=round(nll, 6),
        epochs=epochs,
        train_s=round(trained - start, 3),
        score_s=round(chosen.score_s, 3),
        choose_s=round(chosen.choose_s, 3),
    )
    return step, split.acquire(chosen.positions)


def labelled_points(data: DataSet, index: Int[np.ndarray, " n"], device: torch.device) -> Labelled:
    """These training points on the device."""
    return Labelled(data.train_images[index].to(device), data.train_labels[index].to(device))


def evaluate(run: Run, number: int, model: nn.Module, data: DataSet) -> tuple[float, float]:
    """Test accuracy and mean negative log-likelihood (nats) of the mean over the draws."""
    settings = run.experiment.settings
    index = torch.arange(len(data.test_labels))[: settings.test_points]
    batches = Batches(data.test_images, index, settings.scoring_batch)
    probs = predict_probs(model, batches, settings.draws, seed=run.seed(number, "test"), progress=False)
    return accuracy_and_nll(probs, data.test_labels[index])


def choose(run: Run, number: int, model: nn.Module, split: PoolSplit, data: DataSet, device: torch.device) -> Choice:
    """The method's choice among the candidates of this step, as positions in the pool."""
    settings = run.experiment.settings
    candidates = np.arange(len(split.pool))
    if settings.candidates is not None and settings.candidates < len(candidates):
        candidates = split.subsample(settings.candidates, run.seed(number, "candidates"))
    start = perf_counter()
    probs = torch.ones(len(candidates), 1, 1)  # all alike, for a method that does not look at them
    if run.method.predicts:
        probs = _predict_pool(run, number, model, data, split.indices(candidates), settings.draws)
    if run.method.refinement is not None:
        candidates = candidates[most_informative(probs, run.method.refinement.candidates)]
        probs = _predict_pool(run, number, model, data, split.indices(candidates), run.draws)
    scored = perf_counter()
    picked = _select(run, probs.to(device), run.seed(number, "choice"))
    done = perf_counter()
    return Choice(candidates[picked.indices], picked.gains, picked.scores, scored - start, done - scored)


def most_informative(probs: Float[Tensor, "n k c"], number: int) -> Int[np.ndarray, " some"]:
    """The rows with the largest BALD scores, in the pool's order."""
    best = select_batch(probs, BALD(), min(number, len(probs)), seed=0)
    return np.sort(best.indices)


def _predict_pool(
    run: Run, number: int, model: nn.Module, data: DataSet, index: Int[np.ndarray, " n"], draws: int
) -> Float[Tensor, "n k c"]:
    batches = Batches(data.train_images, torch.from_numpy(index), run.experiment.settings.scoring_batch)
    seed, consistent = run.seed(number, "pool"), run.method.consistent
    return predict_probs(model, batches, draws, seed=seed, consistent=consistent, progress=False)


def _select(run: Run, probs: Float[Tensor, "n k c"], seed: int) -> Selection:
    with warnings.catch_warnings():
        # K = 10 is the paper's setting, and the log holds the scores beside log K.
        warnings.simplefilter("ignore", SaturationWarning)
        return select_batch(probs, run.method.objective, run.experiment.settings.acquisition_size, seed=seed)


def _rounded(values: list[float]) -> list[float]:
    return [round(value, 6) for value in values]
