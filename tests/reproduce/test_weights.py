"""Weights that a network starts from: what the command takes, what the log says, and that they are used."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from models.vgg16 import VGG16
from reproduce.cli import main
from reproduce.errors import UserError
from reproduce.experiments import CINIC10_B10, DIGITS
from reproduce.methods import RANDOM
from reproduce.runs import Run
from reproduce.weights import AT_RANDOM, IMAGENET, Weights


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("weights") / "mine.pth"
    torch.manual_seed(5)
    torch.save(VGG16().state_dict(), path)
    return path


def run_of(weights: Weights) -> Run:
    return Run(CINIC10_B10, RANDOM, 0, "paper", weights=weights)


def test_features_start_from_the_file_and_the_head_at_random(file: Path) -> None:
    stored = torch.load(file, weights_only=True)
    models = [run_of(Weights(str(file))).network() for _ in range(2)]
    for model in models:
        assert torch.equal(model.features[0].weight, stored["features.0.weight"])
        assert not torch.equal(model.hidden.weight, stored["hidden.weight"])
    with torch.no_grad():  # training one does not change what the next starts from
        models[0].features[0].weight.zero_()
    assert torch.equal(run_of(Weights(str(file))).network().features[0].weight, stored["features.0.weight"])
    assert not torch.equal(run_of(Weights(AT_RANDOM)).network().features[0].weight, stored["features.0.weight"])


def test_a_file_is_called_by_name_and_content(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mine.pth"
    copy.write_bytes(file.read_bytes())
    assert Weights(str(copy)).name == Weights(str(file)).name
    assert Weights(str(file)).name.startswith("mine.pth (sha256 ")
    copy.write_bytes(b"other")
    assert Weights(str(copy)).name != Weights(str(file)).name
    assert (IMAGENET.name, Weights(AT_RANDOM).name) == ("imagenet", "none")


def test_a_network_that_takes_no_weights_is_left_as_it_is() -> None:
    run = Run(DIGITS, RANDOM, 0, "paper")
    assert run.network is DIGITS.settings.network


def test_weights_that_do_not_fit_are_told_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, other = tmp_path / "runs", tmp_path / "other.pth"
    torch.save({"features.0.weight": torch.zeros(1)}, other)
    with pytest.raises(UserError, match="not those of torchvision's vgg16_bn"):
        run_of(Weights(str(other))).network()
    asked = ["--out", str(out), "--quiet"]
    assert main(["run", "cinic10", "--weights", str(tmp_path / "none.pth"), *asked]) == 2
    assert "there is no such file; give one, imagenet or none" in capsys.readouterr().err
    assert main(["run", "digits", "--weights", str(other), *asked]) == 2
    assert "the network of digits always starts at random" in capsys.readouterr().err
    assert not out.exists()


def test_a_run_starts_from_them_and_its_log_says_so(
    shared: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way on real images, as little of it as can be."""
    small = replace(CINIC10_B10.settings, draws=2, acquired=20, validation=600, candidates=20, test_points=20)
    small = replace(small, training=replace(small.training, max_epochs=1, epoch_samples=128))
    monkeypatch.setattr("reproduce.experiments.EXPERIMENTS", (replace(CINIC10_B10, settings=small),))
    from reproduce.loop import run_trial
    from reproduce.results import read_log

    experiment = replace(CINIC10_B10, settings=small)
    data = experiment.settings.data.load(shared / "data")
    run = Run(experiment, experiment.methods[-1], 0, "paper", until=10, weights=Weights(str(file)))
    run_trial(run, data, tmp_path, torch.device("cpu"))
    log = read_log(run.log(tmp_path))
    assert log is not None
    assert log.header["settings"]["weights"] == run.weights.name
    assert log.header["settings"]["training"]["augment"] == "crop_and_flip"
    assert log.header["settings"]["network"] == "vgg16"
    assert [step.labelled for step in log.steps] == [200, 210]
    with pytest.raises(UserError, match=r"weights: mine\.pth .* there, none now"):
        run_trial(replace(run, weights=Weights(AT_RANDOM)), data, tmp_path, torch.device("cpu"))
    assert main(["table", "cinic10", "--out", str(tmp_path), "--json"]) == 0
    assert "stand-in (6,000 images), weights: mine.pth" in json.loads(capsys.readouterr().out)["made_with"]
