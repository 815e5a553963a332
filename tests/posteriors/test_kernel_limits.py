"""Where the kernels must not be used, though the first candidates of the pool would not show it, or do not pay."""

import logging
from collections import OrderedDict

import pytest
import torch
from torch import Tensor, nn

from infoacq.posteriors import _chunks, _planes, mc_dropout
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs

DRAWS, CANDIDATES = 6, 24  # from so many on


@pytest.fixture
def calls(monkeypatch):
    """The names of the kernels that are called."""
    seen = []
    for name in ("add_up", "convolve"):
        kernel = getattr(_planes, name)
        monkeypatch.setattr(_planes, name, lambda *given, name=name, kernel=kernel: (seen.append(name), kernel(*given)))
    return seen


def check_equal(model: nn.Module, blocks: Tensor | list[Tensor], tolerance: float = 1e-5, draws: int = DRAWS) -> None:
    fast = mc_dropout.predict_probs(model, blocks, draws, seed=3, progress=False)
    x = blocks if isinstance(blocks, Tensor) else torch.cat(blocks)
    torch.testing.assert_close(fast[:, :DRAWS], naive_probs(model, x, DRAWS, 3), rtol=0, atol=tolerance)


@pytest.mark.parametrize("first", [CANDIDATES - 1, CANDIDATES])
def test_few_candidates(calls, first):
    """A block of few is run without; so are all blocks where the first is, for ways are compared on that."""
    torch.manual_seed(0)
    blocks = [torch.randn(n, 1, 28, 28) for n in (first, 256, CANDIDATES - 1, 256)]
    check_equal(MNISTCNN(), blocks, 1e-6)
    assert len(calls) == (0 if first < CANDIDATES else 2 * (1 + 1 + 2 * 8))  # two convolutions, in groups of 32


def test_why_a_block_is_run_without_is_said(caplog):
    torch.manual_seed(0)
    blocks = [torch.randn(n, 1, 28, 28) for n in (256, CANDIDATES - 1)]
    blocks[0][40] *= 1e38
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"), pytest.raises(ValueError, match="NaN or infinity"):
        mc_dropout.predict_probs(MNISTCNN(), blocks, DRAWS, seed=3, progress=False)
    assert "no kernels for a block of 256 candidates: its sums may leave the floating-point numbers" in caplog.text
    assert f"no kernels for a block of {CANDIDATES - 1} candidates: they run 32 side by side" in caplog.text
    caplog.clear()
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        mc_dropout.predict_probs(MNISTCNN(), blocks[1:], DRAWS, seed=3, progress=False)
    assert "no kernels for the pool: its first block has 23 candidates, not 24" in caplog.text


@pytest.mark.parametrize("name", ["relu", "pool"])
def test_a_forward_of_an_instances_own(calls, name):
    torch.manual_seed(0)
    behind = OrderedDict(relu=nn.ReLU(), pool=nn.MaxPool2d(2))
    behind[name].forward = lambda x: x.clamp(0, 1)
    model = nn.Sequential(nn.Conv2d(1, 5, 5), nn.Sequential(behind), nn.Dropout2d(0.5), nn.Flatten(), nn.LazyLinear(3))
    x = torch.randn(40, 1, 12, 12) * 5
    x[:30] *= 0.01  # it does not show in these
    model(x)
    check_equal(model, x)
    assert set(calls) == {"add_up"}


def test_a_convolutions_own_way_of_an_instance(calls):
    torch.manual_seed(0)
    conv, x = nn.Conv2d(1, 5, 5), torch.randn(40, 1, 12, 12) * 5
    way = conv._conv_forward
    conv._conv_forward = lambda images, weight, bias: way(images.clamp(-2, 2), weight, bias)
    x[:30] *= 0.01  # it does not show in these
    check_equal(nn.Sequential(conv, nn.ReLU(), nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(5 * 64, 3)), x)
    assert calls == []


def test_a_pool_that_asks_for_gradients(calls, caplog):
    torch.manual_seed(0)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        check_equal(MNISTCNN(), torch.randn(40, 1, 28, 28, requires_grad=True), 1e-6)
    assert calls
    assert not caplog.text


def test_a_convolution_that_sees_nothing_but_its_margin():
    """With channels last PyTorch 2.14 takes the process down."""
    torch.manual_seed(0)
    conv = nn.Conv2d(5, 3, (3, 1), stride=(1, 2), padding=(3, 1), dilation=2)
    model = nn.Sequential(nn.Dropout2d(0.5), conv, nn.Flatten(), nn.LazyLinear(3), nn.Dropout(0.5))
    x = torch.randn(9, 5, 1, 1)
    model(x)
    check_equal(model, x)


def passing_on(layer: nn.Conv2d) -> nn.Conv2d:
    """Each output is an input, as it is."""
    with torch.no_grad():
        layer.weight.zero_()[range(8), range(8), 1, 1] = 1.0
    return layer


@pytest.mark.parametrize(("size", "used"), [(1e33, True), (2e37, False)])
def test_numbers_that_would_overflow_between_the_transforms_alone(calls, size, used):
    torch.manual_seed(0)
    chain = [passing_on(nn.Conv2d(8, 8, 3)), nn.Dropout2d(0.5), passing_on(nn.Conv2d(8, 8, 3, padding=1)), nn.ReLU()]
    model = nn.Sequential(nn.Dropout2d(0.5), *chain, nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(8 * 64, 3))
    model[-1].weight.data /= size
    x = torch.randn(30, 8, 10, 10)
    x[28] = size * torch.randn(8, 10, 10).sign()
    check_equal(model, x)
    assert calls.count("convolve") == DRAWS * (2 if used else 1)  # the comparison, and the pool


@pytest.mark.parametrize(("side", "used"), [(12, True), (32, False)])
def test_planes_that_do_not_stay_near(calls, side, used):
    torch.manual_seed(0)
    convolutions = [nn.Conv2d(1, 64, 1), nn.Dropout2d(0.5), nn.Conv2d(64, 8, 3), nn.Dropout2d(0.5), nn.Conv2d(8, 9, 3)]
    model = nn.Sequential(*convolutions, nn.Dropout2d(0.5), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(9, 3))
    check_equal(model, torch.randn(CANDIDATES, 1, side, side))
    assert ("convolve" in calls) == used  # with addends of the first


class Centre(nn.Module):
    """Of all candidates of a block."""

    def forward(self, x: Tensor) -> Tensor:
        return x - x.mean(0, keepdim=True)


@pytest.mark.filterwarnings("ignore:.*normalis")
@pytest.mark.parametrize("place", [1, 4], ids=["shared by all draws", "in each draw"])
@pytest.mark.parametrize("norm", [Centre(), nn.BatchNorm2d(6, track_running_stats=False)], ids=["own", "norm"])
def test_blocks_are_whole_where_candidates_are_looked_at_together(calls, monkeypatch, norm, place):
    monkeypatch.setattr(_chunks, "_ENDS_BYTES", 40 * DRAWS * 6 * 8 * 8 * 4)  # what 40 candidates take
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 6, 5), nn.Dropout2d(0.5), nn.Conv2d(6, 6, 4), nn.ReLU(), nn.Dropout2d(0.5)]
    layers.insert(place, norm)
    model = nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(3))
    x = torch.randn(200, 1, 15, 15) * torch.linspace(0.1, 3, 200)[:, None, None, None]
    model(x)
    check_equal(model, x)
    assert "add_up" in calls
