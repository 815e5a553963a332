"""The kernel that serves all draws at once: used where it should be, and never where it would hide something."""

import logging
from math import prod

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from infoacq.posteriors import _planes, mc_dropout
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs

DRAWS = 6  # from so many on


@pytest.fixture
def calls(monkeypatch):
    """The sizes of windows and the least values with which the kernel is called."""
    seen = []

    def add_up(planes, layer, wanted, out):
        seen.append((layer.window, float(layer.floor[0])))
        kernel(planes, layer, wanted, out)

    kernel = _planes.add_up
    monkeypatch.setattr(_planes, "add_up", add_up)
    return seen


class Net(nn.Module):
    """A convolution of many places between dropouts, and what is given behind it."""

    def __init__(self, behind, dtype=torch.float32):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 12, 3, dtype=dtype), nn.Conv2d(12, 6, 5, dtype=dtype)
        self.drop1, self.drop2 = nn.Dropout2d(0.4), nn.Dropout2d(0.6)
        self.relu = behind  # a name that is not what it says
        self.head = nn.LazyLinear(3, dtype=dtype)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.drop2(self.relu(self.conv2(self.drop1(self.conv1(x))))).flatten(1))


class Pool(nn.Module):
    """As functions are written in a forward."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self.args, self.kwargs = args, kwargs

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(F.max_pool2d(x, *self.args, **self.kwargs))


BEHIND = {
    "pool, relu": (nn.Sequential(nn.MaxPool2d(2), nn.ReLU()), (2, 2), 0.0),
    "relu, pool": (nn.Sequential(nn.ReLU(), nn.MaxPool2d((3, 2))), (3, 2), 0.0),
    "functions": (Pool(2), (2, 2), 0.0),
    "functions with names": (Pool(kernel_size=(2, 3), stride=None), (2, 3), 0.0),
    "functions with steps": (Pool(2, 1), (1, 1), -float("inf")),
    "functions with ceilings": (Pool(2, ceil_mode=True), (1, 1), -float("inf")),
    "another, by the name of relu": (nn.Tanh(), (1, 1), -float("inf")),
    "two poolings": (nn.Sequential(nn.MaxPool2d(2), nn.MaxPool2d(2)), (2, 2), -float("inf")),
    "nothing": (nn.Identity(), (1, 1), -float("inf")),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("behind", "window", "floor"), BEHIND.values(), ids=BEHIND)
def test_what_follows_is_done_at_once_where_it_is_known(calls, caplog, behind, window, floor, dtype):
    torch.manual_seed(0)
    model, x = Net(behind, dtype).eval(), torch.randn(70, 1, 16, 17, dtype=dtype)
    model(x)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    assert not caplog.text
    assert set(calls) == {(prod(window), floor)}
    tolerance = 1e-5 if dtype is torch.float32 else 1e-13
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 3), rtol=0, atol=tolerance)


def test_few_draws_do_not_pay_for_it(calls):
    model, x = Net(nn.ReLU()), torch.randn(24, 12, 16, 17)
    model.conv1 = nn.Conv2d(12, 12, 3)  # not one of images
    model(x)
    mc_dropout.predict_probs(model, x, DRAWS - 1, seed=0, progress=False)
    assert not calls
    mc_dropout.predict_probs(model, x, DRAWS, seed=0, progress=False)
    assert calls


def test_more_draws_keep_the_first(calls):
    torch.manual_seed(1)
    model, x = MNISTCNN(), torch.randn(300, 1, 28, 28)
    few, many = (mc_dropout.predict_probs(model, x, k, seed=5, progress=False) for k in (4, 90))
    assert calls
    torch.testing.assert_close(few, many[:, :4], rtol=0, atol=1e-6)


@pytest.mark.parametrize("where", ["input", "weight"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_hidden(where, value):
    model, x = MNISTCNN(), torch.randn(40, 1, 28, 28)
    target = x[7] if where == "input" else model.conv2.weight[0, 0]
    with torch.no_grad():
        target[..., 0] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        mc_dropout.predict_probs(model, x, DRAWS, seed=0, progress=False)


class Images(nn.Module):
    """A convolution of images that all draws share, with what is given behind it."""

    def __init__(self, behind, channels=3):
        super().__init__()
        self.conv, self.behind = nn.Conv2d(channels, 5, 4, stride=(1, 2), padding=(2, 1)), behind
        self.head, self.drop, self.classes = nn.LazyLinear(8), nn.Dropout(0.5), nn.Linear(8, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.classes(self.drop(self.head(self.behind(self.conv(x)).flatten(1))))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("behind", "window", "floor"), BEHIND.values(), ids=BEHIND)
def test_what_all_draws_share_of_images(calls, caplog, behind, window, floor, threads, monkeypatch):
    monkeypatch.setattr(_planes, "fitting_number", lambda: threads)
    torch.manual_seed(0)
    model, x = Images(behind).eval(), torch.randn(70, 3, 16, 17)
    model(x)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 2, seed=3, progress=False)
    assert not caplog.text
    assert set(calls) == {(prod(window), floor)}
    torch.testing.assert_close(fast, naive_probs(model, x, 2, 3), rtol=0, atol=1e-5)


class Twice(nn.Module):
    """What is behind the convolution is read by another than the next step too."""

    def __init__(self):
        super().__init__()
        self.conv, self.drop, self.head = nn.Conv2d(1, 4, 5), nn.Dropout2d(0.5), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.conv(x))
        y = F.max_pool2d(x, 2)
        return self.head(self.drop(y).mean((2, 3)) + x.mean((2, 3)))


def test_what_others_read_too_is_kept(calls):
    torch.manual_seed(0)
    model, x = Twice(), torch.randn(24, 1, 12, 12)
    fast = mc_dropout.predict_probs(model, x, 3, seed=3, progress=False)
    assert set(calls) == {(1, 0.0)}
    torch.testing.assert_close(fast, naive_probs(model, x, 3, 3), rtol=0, atol=1e-5)


def test_many_channels_are_left_to_pytorch(calls):
    model = Images(nn.ReLU(), channels=5)
    model(torch.randn(2, 5, 16, 17))
    mc_dropout.predict_probs(model, torch.randn(24, 5, 16, 17), 2, seed=0, progress=False)
    assert not calls


class Careful(nn.Module):
    """A forward that tracing cannot follow, and that asks for a view."""

    def forward(self, x: Tensor) -> Tensor:
        return x.view(len(x), -1) if x.sum() < 1e9 else x.flatten(1)


@pytest.mark.parametrize("channels", [1, 5], ids=["by the kernels", "by PyTorch, channels last"])
@pytest.mark.parametrize("draws", [DRAWS - 1, DRAWS])
@pytest.mark.parametrize("place", [1, 4], ids=["shared by all draws", "in each draw"])
def test_a_module_of_ones_own_sees_what_the_model_shows_it(caplog, place, draws, channels):
    torch.manual_seed(0)
    layers = [nn.Conv2d(channels, 12, 5), nn.Dropout2d(0.4), nn.Conv2d(12, 6, 5), nn.Dropout2d(0.6), nn.LazyLinear(3)]
    layers[place:place] = [Careful()] if place == 4 else [Careful(), nn.Unflatten(1, (12, 12, 13))]
    model, x = nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(3)), torch.randn(70, channels, 16, 17)
    model(x)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, draws, seed=3, progress=False)
    assert "the graph of the modules with dropout" not in caplog.text  # which is the way it has to be
    torch.testing.assert_close(fast, naive_probs(model, x, draws, 3), rtol=0, atol=1e-5)
