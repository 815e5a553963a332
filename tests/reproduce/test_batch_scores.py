"""The figure of scores pick by pick, from batches whose scores are known."""

import json
import math
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from reproduce.batch_scores import above, falling, scores_figure
from reproduce.drawing import draw_all
from reproduce.experiments import REPEATED_MNIST
from reproduce.methods import BALD_KEPT, BATCHBALD_10K, BATCHBALD_100_DRAWS, Method
from reproduce.published import published_scores
from reproduce.results import Log, Step
from reproduce.tables import Row

THREE = replace(REPEATED_MNIST, settings=replace(REPEATED_MNIST.settings, acquisition_size=3))


def row(method: Method, draws: int, *batches: list[float]) -> Row:
    steps = [
        Step(i, 0, [], [], [], scores, math.log(draws), 0.5, 1.0, 1, 0.0, 0.0, 0.0) for i, scores in enumerate(batches)
    ]
    return Row(method, [Log({"trial": 0, "initial_labels": 0, "settings": {}}, steps)], None)


def test_batches_above_the_bound_and_falling_ones_are_counted() -> None:
    batches = [[1.0, 2.0, 2.3], [1.0, 2.31, 2.2], [1.0, 0.9, 2.0], [2.302585, 2.302585, 2.302585]]
    assert above(batches, 10) == 1  # log 10 is 2.302585..., and six decimals of it are not above
    assert falling(batches) == 2


def test_medians_pick_by_pick_beside_the_bound_and_the_published() -> None:
    found = [
        row(BALD_KEPT, 10, [1.0, 2.0, 3.0]),  # a sum of single scores, which no log K bounds
        row(BATCHBALD_10K, 10, [1.0, 1.5, 2.0], [1.2, 1.7, 2.2], [1.1, 1.9, 2.1], []),
        row(BATCHBALD_100_DRAWS, 100, [1.0, 2.0, 3.0]),
    ]
    figure = scores_figure(THREE, found, "", {"batchbald": [[1.0, 2.4, 2.3], [1.2, 2.2, 2.3]], "bald": [[9.0] * 3]})
    assert figure is not None
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    ours = lines["BatchBALD (3 batches, 0 above log 10, 0 fall)"]
    assert list(ours.get_xdata()) == [1, 2, 3]
    assert list(ours.get_ydata()) == pytest.approx([1.1, 1.7, 2.1])
    published = lines["BatchBALD, published (2 batches, 1 above log 10, 1 fall)"]
    assert list(published.get_ydata()) == pytest.approx([1.1, 2.3, 2.3])
    assert "BatchBALD, 100 draws (1 batch, 0 above log 100, 0 fall)" in lines
    bounds = [line.get_ydata()[0] for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    assert bounds == pytest.approx([math.log(10), math.log(100)])
    assert not any("BALD (1" in label for label in lines)


@pytest.mark.parametrize(("last", "panels"), [(2.2, 1), (2.29, 2)])
def test_batches_are_shown_closely_where_one_comes_near_the_bound(last: float, panels: int) -> None:
    figure = scores_figure(THREE, [row(BATCHBALD_10K, 10, [1.0, 2.0, 2.1], [1.0, 2.0, last])], "", {})
    assert figure is not None
    assert len(figure.axes) == panels


@pytest.mark.parametrize("found", [[row(BALD_KEPT, 10, [1.0, 2.0, 3.0])], [row(BATCHBALD_10K, 10, [])]])
def test_without_a_joint_score_there_is_no_figure(found: list[Row]) -> None:
    assert scores_figure(THREE, found, "", {}) is None


def test_the_command_draws_it_beside_the_published_runs(tmp_path: Path) -> None:
    runs = {
        "one": {"group": "rmnist_w_noise_multibald_bald_k10_b10", "scores": [[1.0, 2.0, 2.5], [1.0], None]},
        "two": {"group": "another", "scores": [[1.0, 2.0, 2.5]]},
    }
    path = tmp_path / "published_runs.json"
    path.write_text(json.dumps({k: {**run, "batch_size": 3, "accuracy": [0.1]} for k, run in runs.items()}))
    assert published_scores(THREE, path) == {"batchbald": [[1.0, 2.0, 2.5]]}
    assert published_scores(THREE, None) == {}
    drawn = draw_all(THREE, [row(BATCHBALD_10K, 10, [1.0, 1.5, 2.0])], "paper", tmp_path, path, None)
    assert [p.name for p in islice(drawn, 2)] == ["accuracy.png", "scores.png"]


def test_the_published_scores_are_as_the_page_says(shared: Path) -> None:
    batches = published_scores(REPEATED_MNIST, shared / "paper" / "published_runs.json")["batchbald"]
    assert (len(batches), above(batches, 10), falling(batches)) == (158, 147, 153)
