"""Trap 28: pool positions are not data set indices."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor, nn

from infoacq import PredictiveEntropy
from reproduce.data import DataSet
from reproduce.loop import run_trial
from reproduce.methods import BATCHBALD, Method
from reproduce.results import read_log
from reproduce.runs import Run
from reproduce.settings import Experiment
from reproduce.splits import starting_split
from tests.reproduce.conftest import RunTiny


class Reader(nn.Module):
    """Less sure of a class the brighter the first pixel is, so that it is known which image scores highest."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(5.0))
        self.dropout = nn.Dropout(0.5)

    def forward(self, images: Float[Tensor, "n 1 8 8"]) -> Float[Tensor, "n c"]:
        sureness = self.scale * (1.0 - images[:, 0, 0, :1])
        return sureness * torch.eye(10)[0] + 0.0 * self.dropout(images.flatten(1))[:, :10]


def one_hundred_images(brightness: Float[np.ndarray, " n"]) -> DataSet:
    images = torch.zeros(len(brightness), 1, 8, 8)
    images[:, 0, 0, 0] = torch.from_numpy(brightness).float()
    labels = torch.arange(len(brightness)) % 10
    return DataSet(images, labels, images[:10], labels[:10], len(labels))


@pytest.mark.filterwarnings("ignore:all draws are identical")
@pytest.mark.parametrize("candidates", [None, 50])
def test_trap_28_the_brightest_candidates_are_labelled_in_order(
    tiny: Experiment, tmp_path: Path, candidates: int | None
) -> None:
    brightness = np.random.default_rng(7).permutation(100) / 100
    settings = replace(tiny.settings, network=Reader, validation=20, acquired=30, candidates=candidates, test_points=10)
    run = Run(replace(tiny, settings=settings), Method("entropy", "", "", PredictiveEntropy(), ""), 0, "paper")
    data = one_hundred_images(brightness)
    run_trial(run, data, tmp_path, torch.device("cpu"))
    log = read_log(run.log(tmp_path))
    assert log is not None

    split = starting_split(run.experiment, 0, data.train_labels.numpy())
    left = set(range(100)) - set(split.labelled.tolist()) - set(split.held_out.tolist())
    for number, step in enumerate(log.steps[:-1]):
        offered = sorted(left)
        if candidates is not None and candidates < len(offered):  # in the last steps all that is left is offered
            rng = np.random.default_rng(run.seed(number, "candidates"))
            offered = [offered[i] for i in sorted(rng.choice(len(offered), candidates, replace=False))]
        brightest = sorted(offered, key=lambda i: -brightness[i])[:3]
        assert step.chosen == brightest
        assert step.targets == [i % 10 for i in brightest]
        left -= set(brightest)


def test_trap_28_no_point_is_labelled_twice_nor_taken_from_validation(
    tiny_data: DataSet, tiny: Experiment, run_tiny: RunTiny, tmp_path: Path
) -> None:
    log = run_tiny(tmp_path, BATCHBALD)
    split = starting_split(tiny, 0, tiny_data.train_labels.numpy())
    taken = [index for step in log.steps for index in step.chosen]
    everything = taken + split.labelled.tolist() + split.held_out.tolist()
    assert len(taken) == 9
    assert len(set(everything)) == len(everything)
    assert [step.targets for step in log.steps] == [tiny_data.train_labels[s.chosen].tolist() for s in log.steps]
    assert [step.labelled for step in log.steps] == [20, 23, 26, 29]
