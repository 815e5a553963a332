"""What is shown is what the logs say."""

import json
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from reproduce.curves import Curve, Quartiles, Trajectory, curve
from reproduce.drawing import save
from reproduce.errors import UserError
from reproduce.figures import accuracy_figure
from reproduce.methods import BALD_FREE, BALD_KEPT, BATCHBALD, MEAN_STD, RANDOM, VARIATION_RATIOS
from reproduce.published import published_curve
from reproduce.results import Log, Step
from reproduce.settings import Experiment
from reproduce.tables import Row, accuracy_table, as_json, labels_table, rows
from tests.reproduce.conftest import RunTiny


@dataclass(frozen=True)
class Ran:
    """Two trials of two methods, and the folder that their logs are in."""

    out: Path
    logs: dict[str, list[Log]]


@pytest.fixture(scope="module")
def ran(run_tiny: RunTiny, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    out = tmp_path_factory.mktemp("runs")
    return Ran(out, {m.name: [run_tiny(out, m, trial) for trial in (0, 1)] for m in (BATCHBALD, RANDOM)})


def test_rows_are_the_methods_that_were_run(tiny: Experiment, ran: Ran) -> None:
    found = rows(tiny, "paper", ran.out, None)
    assert [row.method.name for row in found] == ["random", "batchbald"]
    assert all(row.published is None for row in found)
    assert rows(tiny, "smoke", ran.out, None) == []


def test_a_log_of_other_settings_is_not_shown(tiny: Experiment, ran: Ran) -> None:
    other = replace(tiny, settings=replace(tiny.settings, draws=6))
    with pytest.raises(UserError, match="draws: 5 there, 6 now"):
        rows(other, "paper", ran.out, None)


def test_the_json_holds_medians_and_quartiles(tiny: Experiment, ran: Ran) -> None:
    told = json.loads(as_json(tiny, "paper", rows(tiny, "paper", ran.out, None)))
    entry = next(e for e in told["methods"] if e["method"] == "batchbald")
    accuracy = np.array([[step.accuracy for step in log.steps] for log in ran.logs["batchbald"]])
    assert entry["acquired"] == [0, 3, 6, 9]
    assert entry["median"] == pytest.approx(np.median(accuracy, axis=0).tolist())
    assert entry["q25"] == pytest.approx(accuracy.min(axis=0).tolist())
    assert entry["q75"] == pytest.approx(accuracy.max(axis=0).tolist())
    assert entry["trials"] == [2] * 4
    assert entry["labels_to_reach"]["0.999"] == {"median": None, "q25": None, "q75": None, "trials": 2}
    assert entry["published"] is None


def test_the_tables_show_what_was_not_reached(tiny: Experiment, ran: Ran) -> None:
    found = rows(tiny, "paper", ran.out, None)
    lines = labels_table(found, 0.999).splitlines()
    assert "beyond the 20 initial ones" in lines[0]
    assert lines[3].split() == ["BatchBALD", ">", "9", ">", "9", ">", "9", "2"]
    medians = np.median([[step.accuracy for step in log.steps] for log in ran.logs["random"]], axis=0)
    assert accuracy_table(found).splitlines()[2].split() == ["Random", *(f"{100 * m:.1f}" for m in medians), "2"]


def test_columns_are_straight_beside_a_long_name(tiny: Experiment, ran: Ran) -> None:
    short, *others = rows(tiny, "paper", ran.out, None)
    found = [replace(short, method=replace(short.method, label="a method with a long name")), *others]
    for table in (accuracy_table(found).splitlines()[1:], labels_table(found, 0.999).splitlines()[1:]):
        assert len({len(line) for line in table}) == 1


def test_a_trial_under_way_does_not_count_as_one_that_needs_more_labels() -> None:
    def log(*accuracy: float) -> Log:
        steps = [Step(i, 20 + 5 * i, [], [], [], [], 0.0, a, 1.0, 1, 0.0, 0.0, 0.0) for i, a in enumerate(accuracy)]
        return Log({"trial": 0, "initial_labels": 20, "settings": {}}, steps)

    row = Row(BATCHBALD, [log(0.5, 0.7, 0.9, 0.9), log(0.5, 0.6, 0.7, 0.8), log(0.5, 0.95), log(0.5, 0.5)], None)
    needed = row.labels_to_reach(0.9)
    assert (needed.q25, needed.median, needed.q75, needed.trials) == (5, 10, math.inf, 3)
    assert labels_table([row], 0.9).splitlines()[2].split()[-1] == "3"


def published(*trials: list[float]) -> Curve:
    """Trials with a point every three labels."""
    return curve([Trajectory([3 * i for i in range(len(trial))], trial) for trial in trials])


def test_published_medians_and_differences_stand_beside_ours(tiny: Experiment, ran: Ran) -> None:
    row = Row(BATCHBALD, ran.logs["batchbald"], published([0.6, 0.7], [0.652, 0.8]))
    ours = [np.median([log.steps[i].accuracy for log in row.logs]) for i in range(2)]
    lines = accuracy_table([row]).splitlines()
    assert lines[2].split()[1:5:2] == [f"{100 * accuracy:.1f}" for accuracy in ours]
    assert lines[2].split()[2:6:2] == ["[62.6]", "[75.0]"]
    differences = [100 * (accuracy - theirs) for accuracy, theirs in zip(ours, (0.626, 0.75), strict=True)]
    assert lines[3].split() == ["difference", *(f"{d:+.1f}" for d in differences)]
    told = json.loads(as_json(tiny, "paper", [row]))["methods"][0]["published"]
    assert told["median"] == pytest.approx([0.626, 0.75])
    assert told["difference"] == {"acquired": [0, 3], "points": pytest.approx(differences, abs=1e-3)}


def test_published_trials_are_counted_as_ours_are(tiny: Experiment, ran: Ran) -> None:
    row = Row(BATCHBALD, ran.logs["batchbald"], published([0.5, 0.9995], [0.5, 0.6], [0.9999]))
    cells = re.split(r"\s{2,}", labels_table([row], 0.999).splitlines()[2])
    assert cells == ["BatchBALD", "> 9 [0]", "> 9 [3]", "> 9 [> 3]", "2"]
    needed = json.loads(as_json(tiny, "paper", [row]))["methods"][0]["published"]["labels_to_reach"]
    assert needed["0.999"] == {"median": 3, "q25": 0, "q75": None, "trials": 3}


def test_what_is_not_known_of_the_published_runs_is_null(tiny: Experiment, ran: Ran) -> None:
    brief = published_curve("mnist_independent_bald_k100_b10", None)
    assert brief is not None
    row = Row(BATCHBALD, ran.logs["batchbald"], brief)
    told = json.loads(as_json(tiny, "paper", [row]))["methods"][0]["published"]
    assert told["median"][0] == 0.662
    assert told["q25"] == told["q75"] == [None] * 5
    assert told["labels_to_reach"] == {}
    assert "[" not in labels_table([row], 0.999)


def test_a_table_of_runs_that_pass_by_the_usual_marks_has_marks_of_its_own() -> None:
    def row(*acquired: int) -> Row:
        steps = [Step(i, n, [], [], [], [], 0.0, 0.5, 1.0, 1, 0.0, 0.0, 0.0) for i, n in enumerate(acquired)]
        return Row(BATCHBALD, [Log({"initial_labels": 0, "settings": {}}, steps)], None)

    assert accuracy_table([row(*range(0, 301, 10))]).splitlines()[1].split()[1:-1] == [
        *("0", "50", "100", "150", "200", "260", "300"),
    ]
    assert accuracy_table([row(*range(0, 281, 40))]).splitlines()[1].split()[1:-1] == [
        *("0", "40", "80", "120", "160", "200", "240", "280"),
    ]
    assert len(accuracy_table([row(*range(40))]).splitlines()[1].split()[1:-1]) <= 10


def test_the_figure_draws_the_curves_that_the_table_tells(tiny: Experiment, ran: Ran, tmp_path: Path) -> None:
    beside = Curve([0, 9], [Quartiles(0.6, 0.65, 0.7, 6), Quartiles(0.7, 0.75, 0.8, 6)])
    row = Row(BATCHBALD, ran.logs["batchbald"], beside)
    figure = accuracy_figure(tiny, [row], "")
    axes = figure.axes[0]
    ours, theirs = axes.lines[0], axes.lines[1]
    assert ours.get_xdata().tolist() == [0, 3, 6, 9]
    assert ours.get_ydata().tolist() == pytest.approx([100 * q.median for q in row.curve.quartiles])
    assert theirs.get_ydata().tolist() == [65, 75]
    assert (ours.get_linestyle(), theirs.get_linestyle()) == ("-", "--")
    assert ours.get_color() == theirs.get_color() == BATCHBALD.colour
    assert axes.get_xlabel().startswith("labels acquired")
    assert axes.get_ylabel() == "test accuracy (%), median and quartiles"
    assert "bands of fewer than 4 trials: least to most" in {line.get_label() for line in axes.lines}
    picture = matplotlib.image.imread(save(figure, tmp_path / "new" / "figure.png"))
    assert picture.std() > 0


def test_methods_are_told_apart_by_name_and_colour() -> None:
    methods = (RANDOM, BALD_KEPT, BALD_FREE, BATCHBALD, VARIATION_RATIOS, MEAN_STD)
    assert len({m.name for m in methods}) == len({m.colour for m in methods}) == len({m.label for m in methods}) == 6
