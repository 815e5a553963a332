"""A run: one method in one trial of an experiment; where its log lies and which seeds it has."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from reproduce.methods import Method
from reproduce.seeds import seed_of
from reproduce.settings import Experiment
from reproduce.weights import IMAGENET, Weights


@dataclass(frozen=True)
class Run:
    """One method in one trial of an experiment, at a scale ("paper" or "smoke").

    Attributes:
        until: where to stop for now: when so many points are acquired. The log can be gone on with later.
        weights: what the features of a pretrained network start from.
    """

    experiment: Experiment
    method: Method
    trial: int
    scale: str
    until: int | None = None
    weights: Weights = IMAGENET

    @property
    def last_step(self) -> int:
        """The step after which this run stops; step s finds the accuracy after s acquisitions."""
        settings = self.experiment.settings
        return settings.steps if self.until is None else min(settings.steps, self.until // settings.acquisition_size)

    @property
    def draws(self) -> int:
        """How many draws a batch is chosen from."""
        refinement = self.method.refinement
        return self.experiment.settings.draws if refinement is None else refinement.draws

    @property
    def network(self) -> Callable[[], nn.Module]:
        """What makes the model that is trained at each step."""
        settings = self.experiment.settings
        return self.weights.into(settings.network) if settings.pretrained else settings.network

    def __str__(self) -> str:
        return f"{self.method.name} trial {self.trial}"

    def log(self, out: Path) -> Path:
        """Where its log lies below the folder of results."""
        return folder(out, self.experiment, self.scale) / f"trial-{self.trial}" / f"{self.method.name}.jsonl"

    def seed(self, step: int, purpose: str) -> int:
        """The seed of a purpose at a step."""
        return seed_of(self.experiment.name, self.trial, step, purpose)


def folder(out: Path, experiment: Experiment, scale: str) -> Path:
    """Where an experiment's logs, tables and figures lie below the folder of results."""
    return out / experiment.name / scale
