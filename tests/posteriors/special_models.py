"""Models whose graph has something special."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.utils import parametrizations


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=1)
        self.norm = nn.BatchNorm2d(6)
        nn.init.normal_(self.norm.running_mean)
        self.drop1, self.drop2 = nn.Dropout2d(0.4), nn.Dropout(0.5)
        self.head = nn.Linear(6 * 16, 3)


class Residual(Base):
    def forward(self, x):
        x = self.drop1(self.conv1(x))
        x = x + self.drop1(F.relu(self.norm(self.conv2(x))))
        return self.head(self.drop2(torch.flatten(F.max_pool2d(x, 2), 1)))


class ShapesInForward(Base):
    def forward(self, x):
        x = F.avg_pool2d(torch.relu(self.drop1(self.conv1(x))), 2)
        n, c = x.shape[0], x.size(1)
        x = self.drop1(self.conv2(x).relu())
        x = x.view(x.size(0), -1) / c + x.reshape(n, c * 16).mean(dim=1, keepdim=True)
        return self.head(self.drop2(x))


class CutBeforeItsUse(Base):
    """The convolution's output is read before the dropout that cuts it, so all of its channels are needed."""

    def forward(self, x):
        x = self.drop1(self.conv1(x))
        before = self.conv2(x)
        x = F.max_pool2d(self.drop1(before) + before.mean(dim=1, keepdim=True), 2)
        return self.head(self.drop2(x.flatten(1)))


class Channels(Base):
    """Mixes channels in ways that no rule knows: softmax, concatenation, attention over channels."""

    def forward(self, x):
        x = self.drop1(self.conv1(x)).softmax(dim=1)
        a, b = self.drop1(self.conv2(x)).chunk(2, dim=1)
        x = torch.cat([a * b.sigmoid(), b], dim=1)
        return self.head(self.drop2(F.max_pool2d(x, 2).flatten(1)))


class InPlaceChain(Base):
    def forward(self, x):
        x = F.relu(self.drop1(F.relu_(self.conv1(x))), inplace=True)
        x = F.leaky_relu(self.conv2(x), 0.1, inplace=True)
        return self.head(self.drop2(F.max_pool2d(x, 2).flatten(1)))


class OptionalArgument(Base):
    def forward(self, x, scale: float = 2.0):
        x = self.drop1(self.conv1(x)) * scale
        return self.head(self.drop2(F.max_pool2d(self.conv2(x), 2).flatten(1)))


class OwnParameters(Base):
    def __init__(self) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.randn(6, 1, 1))
        parametrizations.weight_norm(self.conv2)
        self.head = nn.utils.parametrizations.spectral_norm(self.head)

    def forward(self, x):
        x = self.conv2(self.drop1(self.conv1(x)) * self.gain)
        return self.head(self.drop2(F.max_pool2d(x, 2).flatten(1)))


class Doubled(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class OwnLayer(Base):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = Doubled(96, 96)

    def forward(self, x):
        x = F.max_pool2d(self.drop1(self.conv1(x)), 2).flatten(1)
        return self.head(self.drop2(self.hidden(x)))


class SecondNetwork(Base):
    """Two branches, one of which no dropout reaches."""

    def __init__(self) -> None:
        super().__init__()
        self.other = nn.Sequential(nn.Flatten(), nn.Linear(64, 3), nn.Tanh())

    def forward(self, x):
        y = F.max_pool2d(self.drop1(self.conv1(x)), 2).flatten(1)
        return self.head(self.drop2(y)) + self.other(x)


class Branches(Base):
    """Looks at numbers in its forward, in a block before the first dropout."""

    class Block(nn.Module):
        def forward(self, x):
            return x if float(x.sum()) > 1e9 else x.abs()

    def __init__(self) -> None:
        super().__init__()
        self.block = Branches.Block()

    def forward(self, x):
        x = self.drop1(self.conv1(self.block(x)))
        return self.head(self.drop2(F.max_pool2d(x, 2).flatten(1)))


class Sequence(nn.Module):
    """Dropout between tokens' features, layer norm, attention."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.norm = nn.Linear(8, 6), nn.LayerNorm(6)
        self.drop, self.mix = nn.Dropout(0.4), nn.MultiheadAttention(6, 2, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = self.drop(self.embed(x[:, 0]))
        x = self.norm(x + self.mix(x, x, x, need_weights=False)[0])
        return self.head(self.drop(F.gelu(x)).mean(dim=1))
