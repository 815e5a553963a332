"""The first line of a log: what was run, from which seeds, by which versions, on what."""

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from infoacq import PoolSplit
from reproduce.data import DataSet
from reproduce.runs import Run
from reproduce.settings import describe_run


def header(run: Run, split: PoolSplit, data: DataSet, device: torch.device) -> dict[str, Any]:
    """All that is needed to run it again, and to judge its seconds."""
    settings = run.experiment.settings
    return {
        "experiment": run.experiment.name,
        "method": run.method.name,
        "trial": run.trial,
        "settings": describe_run(run.experiment, run.method) | given(run, data),
        "initial_labels": len(split.labelled),
        "initial": "given" if settings.initial_points else "balanced by seed",
        "seeds": "sha256(experiment/trial/step/purpose), see reproduce/seeds.py",
        "versions": {name: version(name) for name in ("infoacq", "torch", "torchvision", "numpy")}
        | {"python": platform.python_version()},
        "machine": machine(device),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def given(run: Run, data: DataSet) -> dict[str, str]:
    """What the command adds to the settings: the data set, where it is a stand-in, and the weights."""
    weights = {"weights": run.weights.name} if run.experiment.settings.pretrained else {}
    return {"stand_in": data.stand_in} | weights


def machine(device: torch.device) -> dict[str, Any]:
    """The processor or card that does the work."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else _processor()
    return {"device": name, "system": platform.system(), "cores": os.cpu_count(), "threads": torch.get_num_threads()}


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
