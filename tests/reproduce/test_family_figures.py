"""Figures over several experiments, drawn from logs whose numbers are known."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reproduce.ablation import ablation_figure
from reproduce.drawing import draw_all
from reproduce.experiments import ABLATION, ACQUISITION_SIZES, DIGITS, MNIST_B1, MNIST_B10
from reproduce.methods import BALD_KEPT, BATCHBALD, RANDOM, Method
from reproduce.pictures import pictures_figure
from reproduce.results import Step
from reproduce.runs import Run
from reproduce.settings import Experiment, describe_run
from reproduce.sizes import sizes_figure
from reproduce.tables import rows
from reproduce.timing import time_figure, timed


def write_log(out: Path, experiment: Experiment, method: Method, trial: int, accuracy: Sequence[float]) -> None:
    """A log with these accuracies, ten minutes of training and twenty of acquisition a step."""
    method = next(own for own in experiment.methods if own.name == method.name)  # with the experiment's settings
    path = Run(experiment, method, trial, "paper").log(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    size = experiment.settings.acquisition_size
    chosen = [3 * i if method.name == BATCHBALD.name else i // 3 + i % 3 * 1_297 for i in range(size)]
    steps = [
        Step(i, 20 + i * size, chosen, [7] * size, [], [], 0.0, a, 1.0, 4, 600.0, 900.0, 300.0)
        for i, a in enumerate(accuracy)
    ]
    header = {"trial": trial, "initial_labels": 20, "settings": describe_run(experiment, method)}
    lines = [header, *map(asdict, steps)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def axes_of(figure: Figure | None) -> Axes:
    """The only axes of a figure that has to be there."""
    assert figure is not None
    return figure.axes[0]


def test_the_ablation_shows_labels_needed_over_copies(tmp_path: Path) -> None:
    for experiment, reached in zip(ABLATION, (1, 2, 3, 99), strict=True):
        for trial in range(3):
            write_log(tmp_path, experiment, BALD_KEPT, trial, [0.9 if i >= reached + trial else 0.5 for i in range(8)])
    members = [(e, rows(e, "paper", tmp_path, None)) for e in ABLATION]
    axes = axes_of(ablation_figure(members, ""))
    medians = next(line for line in axes.lines if len(line.get_xdata()) == 4)
    assert list(medians.get_xdata()) == [1, 2, 3, 5]
    assert list(medians.get_ydata())[:3] == [20.0, 30.0, 40.0]
    assert math.isnan(medians.get_ydata()[3])  # the last, run as far as 70, is off the scale, and marked so:
    beyond = next(line for line in axes.lines if line.get_marker() == "^" and len(line.get_xdata()))
    assert (list(beyond.get_xdata()), list(beyond.get_ydata())) == ([5], [70])
    assert [int(t.get_text()) for t in axes.get_xticklabels()] == [1, 2, 3, 5]


def test_what_was_not_reached_is_marked_where_its_own_runs_ended(tmp_path: Path) -> None:
    write_log(tmp_path, ABLATION[0], BALD_KEPT, 0, [0.5, 0.6])
    write_log(tmp_path, ABLATION[1], BALD_KEPT, 0, [0.5, 0.6, 0.7, 0.8])
    axes = axes_of(ablation_figure([(e, rows(e, "paper", tmp_path, None)) for e in ABLATION], ""))
    beyond = next(line for line in axes.lines if line.get_marker() == "^" and len(line.get_xdata()))
    assert (list(beyond.get_xdata()), list(beyond.get_ydata())) == ([1, 2], [10, 30])
    assert not [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata())]


def test_an_ablation_compares_two_numbers_of_copies_at_least(tmp_path: Path) -> None:
    write_log(tmp_path, ABLATION[2], BALD_KEPT, 0, [0.5, 0.9])
    assert ablation_figure([(e, rows(e, "paper", tmp_path, None)) for e in ABLATION], "") is None
    write_log(tmp_path, ABLATION[1], BALD_KEPT, 0, [0.5, 0.9])
    axes = axes_of(ablation_figure([(e, rows(e, "paper", tmp_path, None)) for e in ABLATION], ""))
    assert [int(t.get_text()) for t in axes.get_xticklabels()] == [2, 3]


def test_published_points_of_the_ablation_lie_inside_it_where_ours_stop_earlier(tmp_path: Path) -> None:
    runs = {}
    for experiment in ABLATION:
        write_log(tmp_path, experiment, BALD_KEPT, 0, [0.5, 0.9])
        group = experiment.published[BALD_KEPT.name]
        runs[group] = {"group": group, "batch_size": 10, "accuracy": [0.5] * 29 + [0.9]}
    (tmp_path / "runs.json").write_text(json.dumps(runs))
    axes = axes_of(ablation_figure([(e, rows(e, "paper", tmp_path, tmp_path / "runs.json")) for e in ABLATION[1:]], ""))
    dashed = next(line for line in axes.lines if len(line.get_ydata()) == 3 and set(line.get_ydata()) == {290})
    assert dashed.get_linestyle() == "--"
    assert axes.get_ylim()[0] == 0
    assert axes.get_ylim()[1] > 290


def test_there_is_no_figure_of_time_without_bald_or_batchbald(tmp_path: Path) -> None:
    write_log(tmp_path, MNIST_B10, RANDOM, 0, [0.5, 0.9])
    assert time_figure([(MNIST_B10, rows(MNIST_B10, "paper", tmp_path, None))], "") is None


def test_hours_are_those_until_the_model_was_trained(tmp_path: Path) -> None:
    write_log(tmp_path, MNIST_B10, BATCHBALD, 0, [0.5, 0.6, 0.96])
    write_log(tmp_path, MNIST_B10, BATCHBALD, 1, [0.7, 0.8, 0.94, 0.99])  # as far as both have got
    curve = timed(rows(MNIST_B10, "paper", tmp_path, None)[0].trajectories)
    assert curve.hours == pytest.approx([1 / 6, 1 / 6 + 1 / 2, 1 / 6 + 1])
    assert [q.median for q in curve.accuracy] == pytest.approx([0.6, 0.7, 0.95])
    assert [q.q25 for q in curve.accuracy] == pytest.approx([0.5, 0.6, 0.94])
    assert curve.hours_to(0.7) == pytest.approx(4 / 6)
    assert curve.hours_to(0.99) == math.inf


def published_file(place: Path, experiment: Experiment, method: Method, accuracy: Sequence[float]) -> Path:
    """A published run with these accuracies, a minute of training and two of acquisition a step."""
    seconds = {"train_s": [60.0] * len(accuracy), "acquire_s": [120.0] * len(accuracy)}
    group, size = experiment.published[method.name], experiment.settings.acquisition_size
    path = place / "runs.json"
    path.write_text(json.dumps({"a": {"group": group, "batch_size": size, "accuracy": accuracy, **seconds}}))
    return path


def test_time_is_relative_to_batchbald_reaching_95_percent(tmp_path: Path) -> None:
    write_log(tmp_path, MNIST_B10, BATCHBALD, 0, [0.5, 0.95, 0.96])
    write_log(tmp_path, MNIST_B1, BALD_KEPT, 0, [0.5, 0.6, 0.7])
    theirs = published_file(tmp_path, MNIST_B10, BATCHBALD, [0.5, 0.6, 0.97])

    def figure() -> Figure:
        drawn = time_figure([(e, rows(e, "paper", tmp_path, theirs)) for e in ACQUISITION_SIZES], "")
        assert drawn is not None
        return drawn

    bald, batchbald = figure().axes
    assert (bald.get_title(), batchbald.get_title()) == ("BALD", "BatchBALD")
    lines = {line.get_label(): line for line in (*bald.lines, *batchbald.lines)}
    assert list(lines["size 10 (1 trial)"].get_xdata()) == pytest.approx([0.25, 1.0, 1.75])
    assert list(lines["size 1 (1 trial)"].get_xdata()) == pytest.approx([0.25, 1.0, 1.75])
    published = lines["size 10, published, in its own unit"]
    assert list(published.get_xdata()) == pytest.approx([1 / 7, 4 / 7, 1.0])
    assert list(published.get_ydata()) == pytest.approx([50, 60, 97])
    stars = [line for line in (*bald.lines, *batchbald.lines) if line.get_marker() == "*"]
    assert [(float(s.get_xdata()[0]), float(s.get_ydata()[0])) for s in stars] == [(1.0, 95.0)]

    write_log(tmp_path, MNIST_B10, BATCHBALD, 0, [0.5, 0.6])
    assert figure().axes[1].get_xlabel() == "time (hours)"
    assert not [line for line in figure().axes[1].lines if line.get_linestyle() == "--"]


def test_the_figure_of_sizes_has_a_panel_a_method_and_a_line_a_size(tmp_path: Path) -> None:
    write_log(tmp_path, MNIST_B10, BATCHBALD, 0, [0.5, 0.95, 0.96])
    theirs = published_file(tmp_path, MNIST_B10, BATCHBALD, [0.5, 0.6, 0.97])
    assert sizes_figure([(e, rows(e, "paper", tmp_path, theirs)) for e in ACQUISITION_SIZES], "") is None
    for trial, accuracy in enumerate((0.6, 0.7, 0.9)):
        write_log(tmp_path, MNIST_B1, BALD_KEPT, trial, [0.5, accuracy])
    figure = sizes_figure([(e, rows(e, "paper", tmp_path, theirs)) for e in ACQUISITION_SIZES], "")
    assert figure is not None
    bald, batchbald = figure.axes
    (single,) = (line for line in bald.lines if line.get_label() == "size 1 (3 trials)")
    assert (list(single.get_xdata()), list(single.get_ydata())) == ([0, 1], [50, 70])
    (tens,) = (line for line in batchbald.lines if line.get_label() == "size 10 (1 trial)")
    assert (list(tens.get_xdata()), list(tens.get_ydata())) == ([0, 10, 20], [50, 95, 96])
    (dashed,) = (line for line in batchbald.lines if len(line.get_xdata()) and line.get_linestyle() == "--")
    assert (list(dashed.get_xdata()), list(dashed.get_ydata())) == ([0, 10, 20], [50, 60, 97])
    assert dashed.get_color() == tens.get_color() != single.get_color()


def test_pictures_count_the_different_images(tmp_path: Path) -> None:
    data = DIGITS.settings.data.load(None)
    write_log(tmp_path, DIGITS, BALD_KEPT, 1, [0.5])
    assert pictures_figure(DIGITS, rows(DIGITS, "paper", tmp_path, None), "", data) is None  # nothing to compare
    write_log(tmp_path, DIGITS, BATCHBALD, 1, [0.5])
    figure = pictures_figure(DIGITS, rows(DIGITS, "paper", tmp_path, None), "", data)
    assert figure is not None
    said = [part.get_suptitle() for part in figure.subfigs]
    assert said == ["BALD: 4 different images", "BatchBALD: 10 different images"]  # 0, 1297 and 2594 are one original
    shown = [ax.images[0].get_array() for ax in figure.subfigs[1].axes if ax.images]
    assert (shown[1] == data.train_images[3, 0].numpy()).all()


def test_one_command_draws_all_that_there_is(tmp_path: Path) -> None:
    drawn = {}
    for experiment in (DIGITS, MNIST_B10, ABLATION[1], ABLATION[2]):
        for method in experiment.methods:
            write_log(tmp_path, experiment, method, 0, [0.5, 0.6])
        found = rows(experiment, "paper", tmp_path, None)
        drawn[experiment.name] = [p.name for p in draw_all(experiment, found, "paper", tmp_path, None, None)]
    assert drawn == {
        "digits": ["accuracy.png", "pictures.png"],
        "mnist": ["accuracy.png", "time.png"],
        "repeated-mnist-x2": ["accuracy.png"],  # nothing to compare with as yet
        "repeated-mnist": ["accuracy.png", "ablation.png"],
    }
