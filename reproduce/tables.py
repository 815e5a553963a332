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
            "published": _published(row, row.published, experiment.targets) if row.published else None,
        }
        for row in found
    ]
    told = {"experiment": experiment.name, "scale": scale, "made_with": made_with(found), "methods": methods}
    return json.dumps(told, indent=1)


def labels_table(found: Sequence[Row], target: float) -> str:
    """Labels acquired until the test accuracy is first at least the target: quartiles, a method a row."""
    theirs = {row.method.name: row.published.labels_to_reach(target) for row in found if row.published}
    lines = [
        f"Labels acquired{_beyond(found)} until test accuracy first reaches {target:.0%}"
        + " [published, counted the same way]" * any(theirs.values()),
        f"{'method':{_width(found)}}{'lower quartile':>18}{'median':>18}{'upper quartile':>18}{'trials':>8}",
    ]
    for row in found:
        needed = row.labels_to_reach(target)
        cells = _labels(needed, row.trajectories)
        if row.published and (q := theirs[row.method.name]):
            beside = _labels(q, row.published.trials)
            cells = [f"{own} [{other}]" for own, other in zip(cells, beside, strict=True)]
        padded = "".join(f"{cell:>18}" for cell in cells)
        lines.append(f"{row.method.label:{_width(found)}}{padded}{needed.trials:>8}")
    return "\n".join(lines)


def accuracy_table(found: Sequence[Row]) -> str:
    """Median test accuracy (%) after so many acquired labels; the published median in brackets, and the difference."""
    marks = _marks(found)
    lines = [
        "Median test accuracy (%) by labels acquired" + (" [published]" if any(r.published for r in found) else ""),
        f"{'method':{_width(found)}}" + "".join(f"{mark:>13}" for mark in marks) + f"{'trials':>8}",
    ]
    for row in found:
        cells = "".join(f"{_at(row.curve, mark) + _beside(row.published, mark):>13}" for mark in marks)
        lines.append(f"{row.method.label:{_width(found)}}{cells}{len(row.logs):>8}")
        if differences := _differences(row):
            cells = "".join(f"{differences[mark]:>+13.1f}" if mark in differences else " " * 13 for mark in marks)
            lines.append(f"{'  difference':{_width(found)}}{cells}{'':>8}")
    return "\n".join(lines)


def _marks(found: Sequence[Row]) -> list[int]:
    """The numbers of labels that a table shows; of runs that are at few of the usual ones, others."""
    seen = sorted({acquired for row in found for acquired in row.curve.acquired})
    marks = [mark for mark in MARKS if mark in seen]
    return marks if len(marks) > 3 else seen[:: -(-len(seen) // len(MARKS))]


def _differences(row: Row) -> dict[int, float]:
    """Our median accuracy less the published one (points), by labels acquired, where both are known."""
    if row.published is None:
        return {}
    theirs = {n: q.median for n, q in zip(row.published.acquired, row.published.quartiles, strict=True)}
    ours = zip(row.curve.acquired, row.curve.quartiles, strict=True)
    return {n: 100 * (q.median - theirs[n]) for n, q in ours if n in theirs}


def _labels(q: Quartiles, trials: Sequence[Trajectory]) -> list[str]:
    most = max(trial.acquired[-1] for trial in trials)
    return [f"{v:g}" if math.isfinite(v) else f"> {most}" for v in (q.q25, q.median, q.q75)]


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


def _published(row: Row, published: Curve, targets: Sequence[float]) -> dict[str, Any]:
    needed = {f"{t:g}": q for t in targets if (q := published.labels_to_reach(t))}
    differences = _differences(row)
    return {
        **_columns(published),
        "labels_to_reach": {target: _finite(q) for target, q in needed.items()},
        "difference": {"acquired": list(differences), "points": [round(d, 4) for d in differences.values()]},
    }


def _columns(curve: Curve) -> dict[str, list[Any]]:
    known = [_finite(q) for q in curve.quartiles]
    return {"acquired": curve.acquired} | {
        name: [q[name] for q in known] for name in ("median", "q25", "q75", "trials")
    }


def _finite(q: Quartiles) -> dict[str, float | None]:
    """JSON has neither infinity nor NaN: a target that was not reached is null, and what is not known."""
    values = {"median": q.median, "q25": q.q25, "q75": q.q75}
    return {name: value if math.isfinite(value) else None for name, value in values.items()} | {"trials": q.trials}
