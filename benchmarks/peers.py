"""The same job by other libraries: predictions in, chosen candidates out."""

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float


@dataclass(frozen=True)
class Task:
    """A batch of `batch_size` out of predictions; `configurations` where the case says how many, else 0."""

    probs: Float[np.ndarray, "n k c"]
    batch_size: int
    configurations: int = 0


Choose = Callable[[Task], list[int]]


def infoacq_torch(task: Task) -> list[int]:
    """The library as `select_batch` does it unasked, on PyTorch."""
    return _selected(torch.from_numpy(task.probs), task)


def infoacq_numpy(task: Task) -> list[int]:
    """The library as `select_batch` does it unasked, on NumPy."""
    return _selected(task.probs, task)


def infoacq_lazy(task: Task) -> list[int]:
    """The library without racing, on the peers' 10,000 configurations."""
    from infoacq import LazyGreedy

    return _selected(torch.from_numpy(task.probs), task, 10_000, LazyGreedy())


def one_bald_pass(task: Task) -> list[int]:
    """Not the same job but its floor: one pass over the pool, the best of it by BALD."""
    from infoacq import BALD, select_batch

    return select_batch(torch.from_numpy(task.probs), BALD(), task.batch_size, seed=0).indices


def _selected(probs: object, task: Task, configurations: int | None = None, maximiser: object = None) -> list[int]:
    from infoacq import BatchBALD, SaturationWarning, select_batch

    warnings.simplefilter("ignore", SaturationWarning)
    objective = BatchBALD(task.configurations or configurations)
    return select_batch(probs, objective, task.batch_size, maximiser=maximiser, seed=0).indices  # type: ignore[arg-type]


def batchbald_redux(task: Task) -> list[int]:
    """batchbald-redux with 10,000 sampled configurations in float32."""
    from batchbald_redux.batchbald import get_batchbald_batch

    torch.manual_seed(0)
    logs = torch.from_numpy(task.probs).clamp_min(1e-30).log()
    configurations = task.configurations or 10_000
    chosen = get_batchbald_batch(logs, task.batch_size, configurations, dtype=torch.float32)
    return [int(i) for i in chosen.indices]


def baal(task: Task) -> list[int]:
    """BatchBALD of baal with as many samples in all as batchbald-redux has configurations.

    The 40,000 / classes for each draw that its documentation advises need 30 GiB for 1,000 candidates.
    """
    from baal.active.heuristics import BatchBALD

    draws = max(1, (task.configurations or 10_000) // task.probs.shape[1])
    heuristic = BatchBALD(num_samples=task.batch_size, num_draw=draws)
    chosen, _ = heuristic.get_ranks(task.probs.transpose(0, 2, 1).copy())
    return [int(i) for i in chosen[: task.batch_size]]


def scikit_activeml(task: Task) -> list[int]:
    """scikit-activeml's batch_bald with as many samples as batchbald-redux has configurations."""
    from skactiveml.pool import batch_bald

    probs = task.probs.transpose(1, 0, 2).astype(np.float64)
    utilities = batch_bald(probs, task.batch_size, n_MC_samples=task.configurations or 10_000, random_state=0)
    return [int(i) for i in np.nanargmax(utilities, axis=1)]


@dataclass(frozen=True)
class Chooser:
    """A way to do the job, and the package that it needs."""

    choose: Choose
    package: str = "infoacq"

    @property
    def is_installed(self) -> bool:
        """Whether its package can be imported."""
        return importlib.util.find_spec(self.package) is not None


CHOOSERS: dict[str, Chooser] = {
    "infoacq": Chooser(infoacq_torch),
    "infoacq (NumPy)": Chooser(infoacq_numpy),
    "infoacq (lazy, 10,000)": Chooser(infoacq_lazy),
    "one BALD pass": Chooser(one_bald_pass),
    "batchbald-redux": Chooser(batchbald_redux, "batchbald_redux"),
    "baal": Chooser(baal, "baal"),
    "scikit-activeml": Chooser(scikit_activeml, "skactiveml"),
}
