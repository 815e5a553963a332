"""Convolutions in tiles behind the first one: equal to PyTorch's, and used where they should be."""

import logging

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from infoacq.posteriors import _planes, mc_dropout
from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._winograd_kernel import OUTPUTS, SPREAD, TILE, WEIGHTS, Tiled, convolve, cut
from models.emnist_cnn import EMNISTCNN
from tests.posteriors.naive import naive_probs
from tests.posteriors.test_plan_property import ACTIVATIONS, POOLINGS, check_equal

DRAWS = 6  # from so many on
SHARES = st.sampled_from([0.0, 0.2, 0.5, 0.5, 0.5, 0.9, 1.0])


@pytest.fixture
def calls(monkeypatch):
    """Channels that come in, the sides that are handed on and the window, for each call of the kernel."""
    seen = []

    def convolve(planes, layer, out):
        sides = [side * over for side, over in zip(layer.sides, layer.window, strict=True)]
        reach = [-(-side // TILE) * TILE + SPREAD - TILE for side in sides]
        assert all(side >= least for side, least in zip(planes.shape[1:3], reach, strict=True))  # all of it is read
        seen.append((len(planes), layer.sides, layer.window))
        kernel(planes, layer, out)

    kernel = _planes.convolve
    monkeypatch.setattr(_planes, "convolve", convolve)
    return seen


def tiled(weight: Tensor, bias: Tensor, stays: list[int], keeps: list[int], **facts) -> Tiled:
    once = torch.tensor(WEIGHTS, dtype=torch.float64)
    spread = torch.einsum("ay, oiyx, bx -> aboi", once, weight.double(), once).flatten(0, 1).to(weight.dtype).numpy()
    blocks = -(-len(stays) // OUTPUTS)
    cut_out = np.full((blocks, SPREAD**2, len(keeps), OUTPUTS), np.nan, spread.dtype)
    cut(spread, np.array(stays, np.int64), np.array(keeps, np.int64), cut_out)
    filled = F.pad(bias[stays], (0, blocks * OUTPUTS - len(stays))).numpy()
    return Tiled(cut_out, filled, **facts)


@settings(max_examples=60)
@given(
    dtype=st.sampled_from([torch.float32, torch.float64]),
    kept=st.tuples(st.integers(0, 7), st.integers(1, 9)),
    sides=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    window=st.tuples(st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 4])),
    corner=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    least=st.sampled_from([0.0, -np.inf]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_kernel_equals_pytorch(dtype, kept, sides, window, corner, least, seed):
    rng = torch.Generator().manual_seed(seed)
    reach = [-(-side // TILE) * TILE + SPREAD - TILE for side in sides]
    x = torch.randn(LANES, 7, *reach, dtype=dtype, generator=rng)
    weight, bias = (torch.randn(*shape, dtype=dtype, generator=rng) for shape in ((9, 7, 3, 3), (9,)))
    keeps, stays = (torch.randperm(total, generator=rng)[:n].tolist() for total, n in zip((7, 9), kept, strict=True))
    window = tuple(over if over <= side else 1 for over, side in zip(window, sides, strict=True))
    dropped = [channel for channel in range(7) if channel not in keeps]
    wide = F.conv2d(x, weight[stays].index_fill(1, torch.tensor(dropped, dtype=torch.int64), 0.0), bias[stays])[
        ..., : sides[0], : sides[1]
    ]
    high, across = sides[0] // window[0], sides[1] // window[1]
    expected = wide[..., : high * window[0], : across * window[1]].unfold(2, window[0], window[0])
    expected = expected.unfold(3, window[1], window[1]).amax((4, 5)).clamp(min=least).permute(1, 2, 3, 0)
    layer = tiled(weight, bias, stays, keeps, sides=(high, across), window=window, corner=corner,
                  floor=x.new_tensor([least]).numpy())  # fmt: skip
    planes = x[:, keeps].permute(1, 2, 3, 0).contiguous().numpy()
    out = np.full((len(layer.bias), corner[0] + high + 1, corner[1] + across + 1, LANES), 7.0, planes.dtype)
    convolve(planes, layer, out)
    rows, columns = slice(corner[0], corner[0] + high), slice(corner[1], corner[1] + across)
    tolerance = 2e-4 if dtype is torch.float32 else 1e-12
    np.testing.assert_allclose(out[: len(stays), rows, columns], expected.numpy(), rtol=0, atol=tolerance)
    out[:, rows, columns] = 7.0
    assert (out == 7.0).all()  # nothing but its place is written


@st.composite
def chains(draw: st.DrawFn) -> nn.Sequential:
    """Two or three convolutions with whole channels dropped before and behind each, of 3x3 and of others."""
    layers: list[nn.Module] = [nn.Conv2d(2, 5, 1), nn.Dropout2d(draw(SHARES))]
    channels = 5
    for _ in range(draw(st.integers(2, 3))):
        wide = draw(st.integers(1, 9))
        kernel, stride, dilation = draw(st.sampled_from([(3, 1, 1)] * 12 + [(2, 1, 1), (3, (2, 1), 1), (3, 1, (1, 2))]))
        padding = draw(st.sampled_from([0, 1, 1, "same" if stride == 1 else 1, "valid", (2, 1)]))
        layers.append(nn.Conv2d(channels, wide, kernel, stride, padding, dilation, bias=draw(st.booleans())))
        for behind in draw(
            st.lists(st.sampled_from(["relu", "relu", "relu", "window", "window", "pool", "norm", "act"]), max_size=2)
        ):
            layers.append(
                {
                    "relu": nn.ReLU,
                    "window": lambda: nn.MaxPool2d(2),
                    "pool": draw(st.sampled_from([*POOLINGS, lambda: nn.MaxPool2d((1, 3))])),
                    "norm": lambda: nn.BatchNorm2d(wide),  # noqa: B023
                    "act": draw(st.sampled_from(ACTIVATIONS)),
                }[behind]()
            )
        layers.append(nn.Dropout2d(draw(SHARES)))
        channels = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * channels, 3))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(model=chains(), seed=st.integers(0, 2**32 - 1), rows=st.sampled_from([24, 33]))
def test_chains_of_convolutions_equal_the_naive_way(caplog, recwarn, model, seed, rows):
    x = torch.randn(rows, 2, 17, 15)  # small enough for tiles, and enough candidates
    try:
        model(x)
    except RuntimeError:  # nothing is left to convolve
        return
    check_equal(caplog, model, x, 7, seed)
    recwarn.clear()


def test_emnist_is_run_by_the_kernels(calls, caplog):
    torch.manual_seed(0)
    model, x = EMNISTCNN(), torch.randn(300, 1, 28, 28)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 12, seed=1, progress=False)
    assert not caplog.text
    assert {call[1:] for call in calls} == {((4, 4), (2, 2))}  # of 9 rows the last fills no window
    assert 20 < np.mean([channels for channels, *_ in calls]) < 44  # of 64 those that a draw keeps
    torch.testing.assert_close(fast, naive_probs(model, x, 12, 1), rtol=0, atol=1e-6)


class Net(nn.Module):
    """Three convolutions, the second of which reads the first through `between`."""

    def __init__(self, second, between):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 8, 3), second
        self.drops, self.between = nn.ModuleList(nn.Dropout2d(0.4) for _ in range(3)), between
        self.head = nn.LazyLinear(3)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.drops[0](self.conv1(x)))
        x = self.between(self.drops[1](self.conv2(x)))
        return self.head(F.relu(self.drops[2](self.conv3(x))).flatten(1))


CASES = {
    "plain": (lambda: nn.Conv2d(8, 4, 3), nn.ReLU(), True),
    "a margin": (lambda: nn.Conv2d(8, 4, 3, padding=1), nn.ReLU(), True),
    "a margin of copies": (lambda: nn.Conv2d(8, 4, 3, padding=1, padding_mode="reflect"), nn.ReLU(), False),
    "another activation between": (lambda: nn.Conv2d(8, 4, 3), nn.Tanh(), False),
    "a step of two": (lambda: nn.Conv2d(8, 4, 3, stride=2), nn.ReLU(), False),
    "five by five": (lambda: nn.Conv2d(8, 4, 5), nn.ReLU(), False),
    "groups": (lambda: nn.Conv2d(8, 4, 3, groups=2), nn.ReLU(), False),
    "too small for tiles": (lambda: nn.Conv2d(8, 4, 3), nn.MaxPool2d(5), False),
}


@pytest.mark.parametrize(("second", "between", "used"), CASES.values(), ids=CASES)
def test_it_is_used_where_it_is_known(calls, caplog, second, between, used):
    torch.manual_seed(0)
    model, x = Net(second(), between).eval(), torch.randn(40, 1, 20, 21)
    model(x)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    assert all(said == "each draw runs conv3 on all channels" for said in caplog.messages)  # of groups, which is right
    assert bool(calls) == used
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 3), rtol=0, atol=1e-5)


def test_sums_that_may_leave_the_numbers_are_left_to_pytorch(calls):
    model, x = Net(nn.Conv2d(8, 4, 3), nn.ReLU()), torch.randn(40, 1, 20, 21)
    model(x)
    with torch.no_grad():
        model.conv2.weight.mul_(1e30)
        model.conv3.weight.mul_(1e30)
    with pytest.raises(ValueError, match="NaN or infinity"):
        mc_dropout.predict_probs(model, x, DRAWS, seed=0, progress=False)
    assert not calls
