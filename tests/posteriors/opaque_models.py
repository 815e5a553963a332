"""Models that torch.fx does not understand, or understands wrongly."""

import torch.nn.functional as F  # noqa: N812
from torch import nn

from tests.posteriors.special_models import Base


class TwoWays(Base):
    """Not traceable where the dropout is: the number of its passes depends on the numbers."""

    def forward(self, x):
        x = self.conv1(x)
        for _ in range(1 + int(x.abs().max() > 1e-3)):
            x = self.drop1(self.conv2(x))
        return self.head(F.max_pool2d(x, 2).flatten(1))


class SharedInPlace(Base):
    """Changes in place what is read later."""

    def forward(self, x):
        x = self.conv1(x)
        y = self.drop1(x)
        x.relu_()
        return self.head(F.max_pool2d(x + y, 2).flatten(1))


class SharedBetweenDraws(Base):
    def forward(self, x):
        y = self.conv1(0.5 * x)
        x = self.conv1(x)
        x = x.mul_(self.drop1(y))
        return self.head(F.max_pool2d(x, 2).flatten(1))


class ChangesAView(Base):
    """Changes a module's output, which is a view of its input."""

    def __init__(self) -> None:
        super().__init__()
        self.flat = nn.Flatten()

    def forward(self, x):
        x = self.conv1(x)
        self.flat(x).mul_(0.5)
        return self.head(F.max_pool2d(self.drop1(x), 2).flatten(1))


class ChangesItsInput(Base):
    def forward(self, x):
        x.add_(1.0)
        return self.head(F.max_pool2d(self.drop1(self.conv1(x)), 2).flatten(1))


class Counts(Base):
    """Adds a constant that tracing would freeze."""

    calls = 0

    def forward(self, x):
        type(self).calls += 1
        x = self.drop1(self.conv1(x)) + float(self.calls % 2)
        return self.head(F.max_pool2d(x, 2).flatten(1))
