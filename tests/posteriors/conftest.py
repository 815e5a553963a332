"""Small models of the shapes that people score."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn


class Nested(nn.Module):
    """Convolutions, BatchNorm and dropout in nested containers; the second block's dropout is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            [
                nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.Sequential(nn.Dropout2d(0.5), nn.ReLU())),
                nn.Sequential(nn.Conv2d(6, 8, 3), nn.ReLU(inplace=True), nn.MaxPool2d(2)),
            ]
        )
        self.drop = nn.Dropout(0.3)
        self.hidden = nn.Linear(8 * 4, 16)
        self.head = nn.Linear(16, 4)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        x = self.drop(x.flatten(1))
        return self.head(self.drop(torch.relu(self.hidden(x))))


def warm_up(model: nn.Module, x: Tensor) -> nn.Module:
    """Give BatchNorm statistics of its own, then leave the model in training mode, as users do."""
    model.train()
    with torch.no_grad():
        model(x)
    return model


@pytest.fixture
def nested() -> nn.Module:
    torch.manual_seed(0)
    return warm_up(Nested(), torch.randn(32, 1, 8, 8))


@pytest.fixture
def images() -> Tensor:
    return torch.randn(23, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def flat() -> Callable[..., nn.Module]:
    """A two-layer classifier on 6 features around the dropout layer given."""

    def build(*dropout: nn.Module, width: int = 32) -> nn.Module:
        torch.manual_seed(2)
        return nn.Sequential(nn.Linear(6, width), nn.ReLU(), *dropout, nn.Linear(width, 3))

    return build
