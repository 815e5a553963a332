"""What an experiment is: settings that decide what a run finds, and the methods compared under them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from torch import nn

from reproduce.data import Source
from reproduce.methods import Method
from reproduce.training import Training

SMOKE_VALIDATION = 1_024


@dataclass(frozen=True)
class Settings:
    """All that decides what a run finds, beside its method and its trial.

    Attributes:
        draws: K, for the pool (a method may look at some of it under more) and for the test set.
        acquisition_size: points labelled a step.
        acquired: points labelled in all, beyond the initial ones.
        validation: points held out of the pool for early stopping, of the official data set: of a smaller stand-in in
            proportion.
        validation_of_last: they are drawn of so many points at the end of the training set, none of which is in the
            pool; 0: of all.
        validation_balanced: they are as many of each class.
        initial_points: data set indices of the first labels; if empty, `initial_per_class` are drawn of each class.
        candidates: how many are scored a step, a new sub-sample of the pool each time; None: the whole pool.
        test_points: how many of the test set are used, from its beginning; None: all of it.
        scoring_batch: images predicted at a time.
        pretrained: the network is called with the weights that its features start from, or None.
    """

    data: Source
    network: Callable[..., nn.Module]
    training: Training
    draws: int
    acquisition_size: int
    acquired: int
    validation: int
    validation_of_last: int = 0
    validation_balanced: bool = False
    initial_per_class: int = 2
    initial_points: tuple[int, ...] = ()
    candidates: int | None = None
    test_points: int | None = None
    scoring_batch: int = 256
    pretrained: bool = False

    @property
    def steps(self) -> int:
        """Acquisitions in a whole run."""
        return self.acquired // self.acquisition_size


@dataclass(frozen=True)
class Experiment:
    """A comparison of methods under the same settings.

    Attributes:
        trials: how many there are unless the command says otherwise.
        targets: test accuracies for which the labels needed are counted.
        published: the group of the authors' own runs that each method, by name, is compared with.
    """

    name: str
    title: str
    settings: Settings
    methods: tuple[Method, ...]
    trials: int = 6
    targets: tuple[float, ...] = (0.90, 0.95)
    published: Mapping[str, str] = field(default_factory=dict)


def describe(value: Any) -> Any:
    """A value of the settings as JSON can hold it; classes by their names."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: describe(getattr(value, part.name)) for part in fields(value)}
        return {"kind": type(value).__name__, **parts}
    if isinstance(value, tuple):
        return [describe(item) for item in value]
    return value.__name__ if callable(value) else value


def describe_run(experiment: Experiment, method: Method) -> dict[str, Any]:
    """All that decides what the method's runs find, as JSON can hold it."""
    masks = "kept" if method.consistent else "free"
    refined = {"refinement": describe(method.refinement)} if method.refinement else {}
    return {**describe(experiment.settings), "method": describe(method.objective), "masks": masks, **refined}


def smoke(experiment: Experiment) -> Experiment:
    """The same experiment with less of everything: it shows that all parts run, and nothing else."""
    settings = experiment.settings
    images, samples = (200, 128) if settings.pretrained else (500, 640)  # VGG-16 takes 30 times as long an image
    small = replace(
        settings,
        training=replace(settings.training, max_epochs=2, epoch_samples=samples),
        draws=min(settings.draws, 10),
        validation=min(settings.validation, SMOKE_VALIDATION),
        acquired=2 * settings.acquisition_size,
        candidates=images,
        test_points=images,
    )
    return replace(experiment, settings=small, trials=1)
