"""What the logs of an experiment say, as a table for a reader and as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reproduce.curves import Curve, Quartiles, Trajectory, curve, quartiles
from reproduce.errors import UserError
from reproduce.methods import Method
from reproduce.published import published_curve
from reproduce.results import Log, check_same_settings, read_log
from reproduce.runs import folder
from reproduce.settings import Experiment, describe_run

MARKS = (0, 50, 100, 150, 200, 260, 300, 600, 900, 1200)


@dataclass(frozen=True)
class Row:
    """A method's trials, and the published curve where there is one."""

    method: Method
    logs: list[Log]
    published: Curve | None

    @property
    def trajectories(self) -> list[Trajectory]:
        """The test accuracy of each trial."""
        return [log.trajectory for log in self.logs]

    @property
    def curve(self) -> Curve:
        """The test accuracy over the trials."""
        return curve(self.trajectories)

    def labels_to_reach(self, target: float) -> Quartiles:
        """Labels acquired until the test accuracy is first at least `target`, over the trials.

        A trial under way that has not reached it yet is left out if others have, as nobody knows what it will need.
        """
        furthest = max(trajectory.acquired[-1] for trajectory in self.trajectories)
        needed = [(trajectory.labels_to_reach(target), trajectory.acquired[-1]) for trajectory in self.trajectories]
        return quartiles([labels for labels, last in needed if math.isfinite(labels) or last == furthest])


def rows(experiment: Experiment, scale: str, out: Path, published: Path | None) -> list[Row]:
    """The methods of the experiment that have been run, in its order.

    Raises:
        UserError: a log is damaged, or was made with other settings than the experiment has now, or some were made on
            other data than others.
    """
    found = []
    for method in experiment.methods:
        paths = sorted(folder(out, experiment, scale).glob(f"trial-*/{method.name}.jsonl"))
        logs = [log for path in paths if (log := _checked(path, experiment, method))]
        group = experiment.published.get(method.name)
        beside = published_curve(group, published) if group and scale == "paper" else None
        if logs:
            found.append(Row(method, logs, beside))
    different = {_made_with(log) or "the official data" for row in found for log in row.logs}
    if len(different) > 1:
        place = folder(out, experiment, scale)
        raise UserError(f"the logs in {place} do not belong together: {'; '.join(sorted(different))}. Keep them apart")
    return found


def made_with(found: Sequence[Row]) -> str:
    """What must be said wherever these results are shown: the stand-in, and the weights; empty if nothing."""
    return _made_with(found[0].logs[0])


def as_json(experiment: Experiment, scale: str, found: Sequence[Row]) -> str:
    """The accuracy curves, the labels needed and the published medians, a method an entry."""
    methods = [
        {
            "method": row.method.name,
            **_columns(row.curve),
            "labels_to_reach": {f"{t:g}": _finite(row.labels_to_reach(t)) for t in experiment.targets},
            "published": _columns(row.published) if row.published else None,
        }
        for row in found
    ]
    told = {"experiment": experiment.name, "scale": scale, "made_with": made_with(found), "methods": methods}
    return json.dumps(told, indent=1)


def labels_table(found: Sequence[Row], target: float) -> str:
    """Labels acquired until the test accuracy is first at least the target: quartiles, a method a row."""
    lines = [
        f"Labels acquired{_beyond(found)} until test accuracy first reaches {target:.0%}",
        f"{'method':{_width(found)}}{'lower quartile':>16}{'median':>9}{'upper quartile':>16}{'trials':>8}",
    ]
    for row in found:
        q = row.labels_to_reach(target)
        most = max(t.acquired[-1] for t in row.trajectories)
        low, middle, high = (f"{v:g}" if math.isfinite(v) else f"> {most}" for v in (q.q25, q.median, q.q75))
        lines.append(f"{row.method.label:{_width(found)}}{low:>16}{middle:>9}{high:>16}{q.trials:>8}")
    return "\n".join(lines)


def accuracy_table(found: Sequence[Row]) -> str:
    """Median test accuracy (%) after so many acquired labels; the published median in brackets."""
    furthest = max(row.curve.acquired[-1] for row in found)
    marks = [mark for mark in MARKS if mark <= furthest]
    lines = [
        "Median test accuracy (%) by labels acquired" + (" [published]" if any(r.published for r in found) else ""),
        f"{'method':{_width(found)}}" + "".join(f"{mark:>13}" for mark in marks) + f"{'trials':>8}",
    ]
    for row in found:
        cells = "".join(f"{_at(row.curve, mark) + _beside(row.published, mark):>13}" for mark in marks)
        lines.append(f"{row.method.label:{_width(found)}}{cells}{len(row.logs):>8}")
    return "\n".join(lines)


def _checked(path: Path, experiment: Experiment, method: Method) -> Log | None:
    log = read_log(path)
    if log is None or not log.steps:
        return None
    check_same_settings(log.header, {"settings": describe_run(experiment, method)}, path)
    return log


def _made_with(log: Log) -> str:
    settings = log.header["settings"]
    weights = settings.get("weights", "")
    return ", ".join(filter(None, (settings.get("stand_in", ""), weights and f"weights: {weights}")))


def _beyond(found: Sequence[Row]) -> str:
    initial = int(found[0].logs[0].header["initial_labels"])
    return f", beyond the {initial} initial ones," if initial else ""


def _width(found: Sequence[Row]) -> int:
    return max(18, *(len(row.method.label) for row in found))


def _at(curve: Curve, mark: int) -> str:
    return f"{100 * curve.quartiles[curve.acquired.index(mark)].median:.1f}" if mark in curve.acquired else "-"


def _beside(curve: Curve | None, mark: int) -> str:
    return f" [{_at(curve, mark)}]" if curve else ""


def _columns(curve: Curve) -> dict[str, list[Any]]:
    return {
        "acquired": curve.acquired,
        "median": [q.median for q in curve.quartiles],
        "q25": [q.q25 for q in curve.quartiles],
        "q75": [q.q75 for q in curve.quartiles],
        "trials": [q.trials for q in curve.quartiles],
    }


def _finite(q: Quartiles) -> dict[str, float | None]:
    """JSON has no infinity: a target that was not reached is null."""
    values = {"median": q.median, "q25": q.q25, "q75": q.q75}
    return {name: value if math.isfinite(value) else None for name, value in values.items()} | {"trials": q.trials}
