"""The settings of the experiments, held against those that the authors published with their runs."""

import json
from pathlib import Path

import pytest
import torch

from infoacq import BatchBALD
from reproduce.data import MNIST
from reproduce.errors import UserError
from reproduce.experiments import EXPERIMENTS, named
from reproduce.published import INITIAL_POINTS, MEDIANS, published_curve, read_runs, trajectories
from reproduce.settings import Experiment, describe, smoke

PAPER = [experiment for experiment in EXPERIMENTS if experiment.published]


@pytest.mark.parametrize("experiment", PAPER, ids=lambda e: e.name)
def test_settings_are_the_published_ones(experiment: Experiment, shared: Path) -> None:
    runs = read_runs(shared / "paper" / "published_runs.json")
    settings = experiment.settings
    for method, group in experiment.published.items():
        assert method in [m.name for m in experiment.methods]
        published = [run for run in runs if run["group"] == group]
        assert published
        for run in published:
            hyper = run["hyper"]
            assert settings.draws == run["mc_samples"]
            if settings.initial_points:
                assert settings.initial_points == tuple(run["initial_samples"])
            else:  # drawn by seed, as many
                assert len(run["initial_samples"]) == 10 * settings.initial_per_class
            assert settings.validation == hyper["validation_set_size"]
            assert settings.training.max_epochs == hyper["epochs"]
            assert settings.training.epoch_samples == hyper["epoch_samples"]
            assert settings.training.batch_size == hyper["batch_size"]
            assert settings.training.patience == hyper["early_stopping_patience"]
            if group != "rmnist_w_noise_independent_random_k10_b5":  # the one published with another size
                assert settings.acquisition_size == run["batch_size"]


@pytest.mark.parametrize("experiment", PAPER, ids=lambda e: e.name)
def test_batchbald_has_as_many_configurations_as_in_the_paper(experiment: Experiment) -> None:
    objectives = [method.objective for method in experiment.methods if method.name == "batchbald"]
    assert objectives == [BatchBALD(max_configurations=10_000)] * len(objectives)
    assert objectives or experiment.name == "mnist-b1"  # where a batch is one point


def test_medians_in_the_code_are_those_of_the_file(shared: Path) -> None:
    path = shared / "paper" / "published_runs.json"
    for group, medians in MEDIANS.items():
        whole = published_curve(group, path)
        assert whole is not None
        for acquired, median in medians.items():
            assert whole.quartiles[whole.acquired.index(acquired)].median == pytest.approx(median, abs=1.1e-3)
        brief = published_curve(group, None)
        assert brief is not None
        assert brief.acquired == list(medians)


def test_the_file_reads_as_runs_and_another_does_not(shared: Path, tmp_path: Path) -> None:
    runs = read_runs(shared / "paper" / "published_runs.json")
    fives = trajectories(runs, "rmnist_w_noise_independent_random_k10_b5")
    assert [t.acquired[:3] for t in fives] == [[0, 5, 10]] * 6
    other = tmp_path / "other.json"
    for content in ("nonsense", "[1, 2]", json.dumps({"a": {"group": "x"}})):
        other.write_text(content)
        with pytest.raises(UserError, match="holds no published runs"):
            read_runs(other)


def test_mnist_is_normalised_and_starts_from_two_of_each_class(shared: Path) -> None:
    data = MNIST().load(shared / "data")
    assert data.train_images.shape == (60_000, 1, 28, 28)
    assert data.test_images.shape == (10_000, 1, 28, 28)
    assert float(data.train_images.mean()) == pytest.approx(0.0, abs=1e-3)
    assert float(data.train_images.std()) == pytest.approx(1.0, abs=1e-3)
    assert torch.bincount(data.train_labels[list(INITIAL_POINTS)]).tolist() == [2] * 10


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_an_experiment_can_be_described_and_made_small(experiment: Experiment) -> None:
    assert experiment.settings.acquired % experiment.settings.acquisition_size == 0
    assert json.loads(json.dumps(describe(experiment.settings)))["kind"] == "Settings"
    small = smoke(experiment)
    assert small.settings.steps == 2
    assert small.settings.data == experiment.settings.data
    assert describe(small.settings) != describe(experiment.settings)


def test_an_unknown_experiment_is_told_with_those_there_are() -> None:
    assert len({experiment.name for experiment in EXPERIMENTS}) == len(EXPERIMENTS)
    assert named("digits").name == "digits"
    with pytest.raises(UserError, match="no experiment is called 'fashion'; there are digits, repeated-mnist"):
        named("fashion")
