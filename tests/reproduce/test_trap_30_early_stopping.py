"""Trap 30: the best weights are a copy and always restored; neither NaN nor a tie is an improvement."""

from math import nan

import pytest
import torch
from torch import nn

from reproduce.training import Training, fit


def weight_after(metrics: list[float], patience: int = 3) -> tuple[float, int]:
    """Train a model whose weight is the number of the epoch; the weight kept, and the epochs run."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    left = iter(metrics)

    def epoch() -> None:
        with torch.no_grad():
            model.weight += 1.0  # in place, as optimisers do: a reference to the best weights would move on

    settings = Training(max_epochs=len(metrics), epoch_samples=1, patience=patience)
    epochs = fit(model, epoch, lambda: next(left), settings)
    return model.weight.item(), epochs


@pytest.mark.parametrize(
    ("metrics", "best", "epochs"),
    [
        ([0.5, 0.4, 0.3, 0.2, 0.9], 1, 4),  # three epochs without a better one
        ([0.5, 0.4, 0.6, 0.5, 0.5, 0.5, 0.9], 3, 6),
        ([0.5, 0.6, 0.55], 2, 3),  # restored also when the epochs were used up
        ([0.5, 0.6, 0.7], 3, 3),
        ([0.5, 0.5, 0.5, 0.5, 0.9], 1, 4),  # a tie is no improvement
        ([0.5, nan, nan, 0.6, 0.1], 4, 5),
        ([nan, 0.5, nan, nan, nan, 0.9], 2, 5),
        ([nan, nan, nan, nan], 0, 3),  # nothing to restore but the weights that it began with
    ],
)
def test_trap_30_the_first_best_epoch_is_restored(metrics: list[float], best: int, epochs: int) -> None:
    assert weight_after(metrics) == (best, epochs)
