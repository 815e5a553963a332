"""Models whose graph has something special: taken apart rightly, or run in full with the reason in the debug log."""

import logging

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.nn.utils import parametrizations

from infoacq.posteriors import mc_dropout
from tests.posteriors.naive import naive_probs


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


@pytest.mark.parametrize(
    "kind",
    [
        Residual,
        ShapesInForward,
        CutBeforeItsUse,
        Channels,
        InPlaceChain,
        OptionalArgument,
        OwnParameters,
        OwnLayer,
        SecondNetwork,
        Branches,
        Sequence,
    ],
)
def test_taken_apart_and_equal(kind, caplog):
    model, x = kind(), torch.randn(9, 1, 8, 8)
    slow = naive_probs(model, x, 10, seed=3)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 10, seed=3, progress=False)
    assert "by the graph of the modules with dropout" not in caplog.text
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    assert float(fast.std(dim=1).max()) > 1e-3


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


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (TwoWays, "Proxy"),
        (SharedInPlace, "a tensor that is changed in place is used elsewhere too"),
        (SharedBetweenDraws, "a tensor that all draws share is changed in place"),
        (ChangesItsInput, "a tensor that is changed in place is used elsewhere too"),
    ],
)
def test_what_torch_fx_does_not_understand_is_logged_and_replayed(kind, reason, caplog):
    model, x = kind(), torch.randn(300, 1, 8, 8)
    before = x.clone()
    calls: list[int] = []
    model.conv1.__class__ = type("Conv", (nn.Conv2d,), {"forward": counting(calls)})
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        probs = mc_dropout.predict_probs(model, x, 6, seed=3, progress=False)
    assert reason in caplog.text
    assert "is run in full" not in caplog.text
    once = 2 if kind is SharedBetweenDraws else 1
    assert calls.count(256) == calls.count(44) == once  # for each block, not for each of six draws
    assert "forward" not in vars(model.conv1)
    assert torch.equal(x, before)
    torch.testing.assert_close(probs, naive_probs(model, x, 6, seed=3), rtol=0, atol=1e-6)


def counting(calls: list[int]):
    def forward(self, x):
        calls.append(len(x))
        return nn.Conv2d.forward(self, x)

    return forward


def test_a_model_that_is_no_function_of_its_input_is_run_in_full(caplog):
    model = Counts()
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        mc_dropout.predict_probs(model, torch.randn(3, 1, 8, 8), 3, seed=3, progress=False)
    assert caplog.text.count("other scores than the model's own forward") >= 1
    assert "Counts is run in full for every draw" in caplog.text


def test_a_model_that_stores_what_it_sees_holds_no_proxy_afterwards():
    class Stores(Base):
        def forward(self, x):
            self.features = self.drop1(self.conv1(x))
            return self.head(F.max_pool2d(self.features, 2).flatten(1))

    model = Stores()
    mc_dropout.predict_probs(model, torch.randn(3, 1, 8, 8), 2, seed=0, progress=False)
    assert isinstance(model.features, Tensor)


def test_hooks_of_the_users_are_run_for_every_draw():
    model, seen = Residual(), []
    model.conv2.register_forward_hook(lambda module, args, output: seen.append(len(output)))
    mc_dropout.predict_probs(model, torch.randn(5, 1, 8, 8), 4, seed=0, progress=False)
    assert seen[-4:] == [5, 5, 5, 5]


def test_a_hook_on_a_dropout_layer_sees_what_is_dropped():
    model, seen = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 3)), []
    model[1].register_forward_hook(lambda module, args, output: seen.append(float((output == 0).float().mean())))
    mc_dropout.predict_probs(model, torch.randn(5, 1, 8, 8), 2, seed=0, progress=False)
    assert all(0.2 < share < 0.8 for share in seen[-2:])
