"""Training from scratch: epochs of a fixed length, early stopping on validation accuracy."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

EVALUATION_BATCH = 256


@dataclass(frozen=True)
class Training:
    """How a model is trained at every step: Adam (betas 0.9 and 0.999) from a new initialisation.

    Attributes:
        augment: what each batch goes through first, with PyTorch's random state; None: nothing.
    """

    max_epochs: int
    epoch_samples: int
    batch_size: int = 64
    learning_rate: float = 1e-3
    patience: int = 3
    augment: Callable[[Tensor], Tensor] | None = None


@dataclass(frozen=True)
class Labelled:
    """Images with their classes, on the device that the model is trained on."""

    images: Float[Tensor, "n channels height width"]
    labels: Int[Tensor, " n"]


def train(
    network: Callable[[], nn.Module], points: Labelled, validation: Labelled, settings: Training, seed: int
) -> tuple[nn.Module, int]:
    """A new model trained on the points, and the number of epochs that it took.

    Without a labelled point there is nothing to learn from: the model as initialised, 0 epochs. The global
    random state is neither read nor changed.
    """
    device = points.images.device
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        model = network().to(device).to(memory_format=torch.channels_last)  # convolutions are faster so
        if len(points.labels) == 0:
            return model, 0
        optimiser = torch.optim.Adam(model.parameters(), settings.learning_rate)
        rng = np.random.default_rng(seed)
        epochs = fit(
            model,
            lambda: train_epoch(model, optimiser, points, settings, rng),
            lambda: accuracy(model, validation),
            settings,
        )
    return model, epochs


def fit(model: nn.Module, epoch: Callable[[], None], validate: Callable[[], float], settings: Training) -> int:
    """The number of epochs run; the model is left with the weights of the best one.

    Only a strictly better validation accuracy is an improvement: a tie is none, and neither is NaN.
    """
    best, best_epoch, weights = -np.inf, 0, copy.deepcopy(model.state_dict())
    epochs = 0
    while epochs < settings.max_epochs and epochs - best_epoch < settings.patience:
        epoch()
        epochs += 1
        now = validate()
        if now > best:
            best, best_epoch, weights = now, epochs, copy.deepcopy(model.state_dict())
    model.load_state_dict(weights)
    return epochs


def train_epoch(
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    points: Labelled,
    settings: Training,
    rng: np.random.Generator,
) -> None:
    """One epoch of `settings.epoch_samples` samples."""
    model.train()
    order = torch.from_numpy(balanced_epoch(len(points.labels), settings.epoch_samples, rng))
    for batch in torch.split(order.to(points.labels.device), settings.batch_size):
        optimiser.zero_grad()
        images = points.images[batch]
        if settings.augment is not None:
            images = settings.augment(images)
        loss = nn.functional.cross_entropy(model(channels_last(images)), points.labels[batch])
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()


def balanced_epoch(points: int, samples: int, rng: np.random.Generator) -> Int[np.ndarray, " samples"]:
    """The order in which an epoch of a fixed number of samples visits the points.

    Each point comes ⌊samples/points⌋ or ⌈samples/points⌉ times, so that an epoch is equally long and no point
    is preferred, however few are labelled.

    Raises:
        ValueError: there is no point to sample from.
    """
    if points < 1:
        raise ValueError(f"an epoch needs a labelled point to sample from; got {points} of them")
    rest = rng.choice(points, samples % points, replace=False)
    return rng.permutation(np.concatenate([np.tile(np.arange(points), samples // points), rest]))


@torch.no_grad()
def accuracy(model: nn.Module, data: Labelled) -> float:
    """The share of points given their class with dropout off; NaN where a logit is not finite."""
    model.eval()
    right = 0
    batches = zip(torch.split(data.images, EVALUATION_BATCH), torch.split(data.labels, EVALUATION_BATCH), strict=True)
    for images, labels in batches:
        logits = model(channels_last(images))
        if not logits.isfinite().all():
            return float("nan")
        right += int((logits.argmax(1) == labels).sum())
    return right / len(data.labels)


def channels_last(images: Tensor) -> Tensor:
    """The same images in the memory order in which convolutions and poolings are faster.

    The strides of a single channel leave the order open, and PyTorch would take the slow one.
    """
    if images.ndim != 4:
        return images
    _, channels, height, width = images.shape
    strides = (channels * height * width, 1, width * channels, channels)
    return images.contiguous(memory_format=torch.channels_last).as_strided(images.shape, strides)
