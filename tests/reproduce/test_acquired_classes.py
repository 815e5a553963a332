"""The figures of acquired classes, against scipy and by hand, from logs whose labels are known."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from reproduce.acquired_classes import (
    class_entropy,
    entropies,
    entropy_figure,
    examples_figure,
    histogram_figure,
    sorted_counts,
)
from reproduce.cli import main
from reproduce.data import DataSet
from reproduce.experiments import EMNIST_QUICK
from reproduce.methods import BALD_KEPT, BATCHBALD, Method
from reproduce.pictures import as_picture
from reproduce.results import Log, Step
from reproduce.runs import Run
from reproduce.settings import describe_run
from reproduce.tables import Row, rows


def steps(targets: Sequence[Sequence[int]]) -> list[Step]:
    """Steps that acquire these classes, and the last, which acquires none."""
    found, labelled = [], 0
    for i, step in enumerate([*targets, []]):
        found.append(Step(i, labelled, list(step), list(step), [], [], 2.3, 0.1 * i, 1.0, 4, 6.0, 9.0, 3.0))
        labelled += len(step)
    return found


def log_of(targets: Sequence[Sequence[int]]) -> Log:
    return Log({"trial": 0, "initial_labels": 0, "settings": {}}, steps(targets))


def write_log(out: Path, method: Method, trial: int, targets: Sequence[Sequence[int]], **given: str) -> None:
    method = next(own for own in EMNIST_QUICK.methods if own.name == method.name)
    path = Run(EMNIST_QUICK, method, trial, "paper").log(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {**describe_run(EMNIST_QUICK, method), **given}
    header = {"trial": trial, "initial_labels": 0, "settings": settings}
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *map(asdict, steps(targets)))))


@given(st.lists(st.integers(0, 46), min_size=1, max_size=60))
def test_the_entropy_is_scipys(labels: list[int]) -> None:
    assert class_entropy(labels) == pytest.approx(entropy(np.bincount(labels)), abs=1e-12)


def test_entropies_are_of_all_classes_acquired_so_far() -> None:
    found = entropies(log_of([[3, 3], [4, 4], [5, 3]]))
    assert found == pytest.approx([0.0, math.log(2), entropy([3, 2, 1])])
    assert class_entropy([]) == 0.0


def test_counts_are_sorted_and_cut() -> None:
    log = log_of([[3, 3], [4, 4], [5, 3]])
    assert sorted_counts(log, 5, 6) == [3, 2, 1, 0, 0]
    assert sorted_counts(log, 5, 3) == [2, 1, 0, 0, 0]


def test_figures_show_the_medians_and_the_mean_counts() -> None:
    logs = [log_of([[0, 1], [2, 3]]), log_of([[0, 0], [0, 1]]), log_of([[0, 1], [0, 1], [7, 7]])]
    row = Row(BALD_KEPT, logs, None)
    curve = next(line for line in entropy_figure(EMNIST_QUICK, [row], "", 47).axes[0].lines)
    assert list(curve.get_xdata()) == [5, 10, 15]
    assert curve.get_ydata() == pytest.approx([math.log(2), math.log(2), entropy([2, 2, 2])])
    axes = histogram_figure(EMNIST_QUICK, [row], "", 4).axes[0]
    assert axes.patches[0].get_data().values.tolist() == pytest.approx([2.0, 4 / 3, 1 / 3, 1 / 3])
    assert axes.get_ylabel() == "labels among the first 4"  # as far as the shortest has got


def test_examples_show_the_first_image_of_each_class_under_its_name() -> None:
    labels = torch.tensor([2, 0, 1, 0, 2])
    images = torch.arange(5.0).view(5, 1, 1, 1).expand(5, 1, 2, 2)
    figure = examples_figure(EMNIST_QUICK, DataSet(images, labels, images, labels, 5, ("x", "y", "z")), ", s", 2)
    shown = {axes.get_title(): float(axes.images[0].get_array()[0, 0]) for axes in figure.axes if axes.images}
    assert shown == {"x": 1.0, "y": 2.0, "z": 0.0}
    assert figure.get_suptitle() == f"{EMNIST_QUICK.title}, s\nOne image of each class"


def test_colours_are_shown_from_0_to_1_and_grey_as_it_is() -> None:
    colours = torch.randn(3, 4, 5)
    picture = as_picture(colours)
    assert (picture.shape, picture.min(), picture.max()) == ((4, 5, 3), 0.0, 1.0)
    grey = torch.randn(1, 4, 5)
    assert (as_picture(grey)[:, :, 0] == grey[0].numpy()).all()


def test_the_command_draws_them_and_says_what_they_were_made_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for method in (BALD_KEPT, BATCHBALD):
        write_log(tmp_path, method, 0, [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1]], stand_in="EMNIST stand-in (9 images)")
    found = rows(EMNIST_QUICK, "paper", tmp_path, None)
    assert main(["figure", "emnist-quick", "--out", str(tmp_path)]) == 0
    drawn = capsys.readouterr().out.split()
    assert [Path(p).name for p in drawn] == ["accuracy.png", "class-entropy.png", "class-histogram.png"]
    assert main(["table", "emnist-quick", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{EMNIST_QUICK.title}, EMNIST stand-in (9 images)\n")
    assert "Labels acquired until test accuracy first reaches 30%" in said  # there are no initial ones
    assert main(["table", "emnist-quick", "--json", "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["made_with"] == "EMNIST stand-in (9 images)"
    assert len(found) == 2


def test_logs_of_different_data_are_not_shown_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_log(tmp_path, BALD_KEPT, 0, [[1] * 5], stand_in="EMNIST stand-in (9 images)")
    write_log(tmp_path, BALD_KEPT, 1, [[1] * 5], stand_in="")
    assert main(["table", "emnist-quick", "--out", str(tmp_path)]) == 2
    assert "do not belong together: EMNIST stand-in (9 images); the official data" in capsys.readouterr().err
