"""An experiment that takes a second: a few steps on few digits, through everything that the large ones go through."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import jaxtyping
import pytest
import torch

jaxtyping.install_import_hook("reproduce", "beartype.beartype")

from models.digits_mlp import DigitsMLP  # noqa: E402
from reproduce.data import DataSet, Digits  # noqa: E402
from reproduce.loop import run_trial  # noqa: E402
from reproduce.methods import BALD_FREE, BALD_KEPT, BATCHBALD, RANDOM, Method  # noqa: E402
from reproduce.results import Log, read_log  # noqa: E402
from reproduce.runs import Run  # noqa: E402
from reproduce.settings import Experiment, Settings  # noqa: E402
from reproduce.training import Training  # noqa: E402

TINY = Experiment(
    name="tiny",
    title="Tiny",
    settings=Settings(
        data=Digits(copies=2, noise=0.1),
        network=DigitsMLP,
        training=Training(max_epochs=3, epoch_samples=256),
        draws=5,
        acquisition_size=3,
        acquired=9,
        validation=60,
        candidates=200,
        test_points=100,
    ),
    methods=(RANDOM, BALD_KEPT, BALD_FREE, BATCHBALD),
    trials=2,
    targets=(0.50, 0.999),
)


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> Iterator[None]:
    """As the workers have it: sums in another order would be other results."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def tiny_data() -> DataSet:
    return TINY.settings.data.load(None)


@pytest.fixture(scope="session")
def tiny() -> Experiment:
    return TINY


RunTiny = Callable[..., Log]


@pytest.fixture(scope="session")
def run_tiny(tiny_data: DataSet) -> RunTiny:
    """Run the tiny experiment with these settings changed, and give its log."""

    def go(out: Path, method: Method = BATCHBALD, trial: int = 0, **changed: object) -> Log:
        run = Run(replace(TINY, settings=replace(TINY.settings, **changed)), method, trial, "paper")
        run_trial(run, tiny_data, out, torch.device("cpu"))
        log = read_log(run.log(out))
        assert log is not None
        return log

    return go


SECONDS = ("train_s", "score_s", "choose_s")


def found(log: Log) -> list[dict[str, object]]:
    """What the steps of a log found, without the seconds that they took."""
    return [{k: v for k, v in vars(step).items() if k not in SECONDS} for step in log.steps]
