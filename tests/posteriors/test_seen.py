"""What a pooling leaves out is not computed, and nothing else is left out."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from infoacq.posteriors import _subnetwork, mc_dropout
from models.emnist_cnn import EMNISTCNN
from tests.posteriors.naive import naive_probs
from tests.posteriors.test_plan_property import ACTIVATIONS, POOLINGS, check_equal

DRAWS, CANDIDATES = 3, 24  # as many as the kernels want
UNEVEN = [lambda: nn.MaxPool2d(3), lambda: nn.AvgPool2d((2, 3)), lambda: nn.MaxPool2d(2, 3), lambda: nn.MaxPool2d(1, 2)]


@pytest.fixture
def sides(monkeypatch):
    """Rows and columns that convolutions compute."""
    seen = []

    def convolve(layer, x, weight, bias):
        result = before(layer, x, weight, bias)
        seen.append(tuple(result.shape[2:]))
        return result

    before = _subnetwork.convolve
    monkeypatch.setattr(_subnetwork, "convolve", convolve)
    return seen


@st.composite
def chains(draw: st.DrawFn) -> nn.Sequential:
    """Convolutions, most without a margin, with poolings of all kinds behind them, dropped channels in between."""
    layers: list[nn.Module] = [nn.Dropout2d(0.4)]
    for _ in range(draw(st.integers(1, 3))):
        kernel, stride = draw(st.sampled_from([1, 2, 3, (2, 3)])), draw(st.sampled_from([1, 1, 1, (1, 2)]))
        padding = draw(st.sampled_from([0, 0, 0, "valid", (1, 0)]))
        dilation = draw(st.sampled_from([1, 1, (2, 1)]))
        layers.append(nn.Conv2d(3, 3, kernel, stride, padding, dilation))
        for kind in draw(st.lists(st.sampled_from(["pool", "act", "norm", "drop", "drop each"]), max_size=3)):
            layers.append(
                {
                    "pool": draw(st.sampled_from([*POOLINGS, *UNEVEN])),
                    "act": draw(st.sampled_from(ACTIVATIONS)),
                    "norm": lambda: nn.BatchNorm2d(3),
                    "drop": lambda: nn.Dropout2d(0.4),
                    "drop each": lambda: nn.Dropout(0.4),
                }[kind]()
            )
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(12, 3))


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much])
@given(model=chains(), seed=st.integers(0, 2**32 - 1), consistent=st.booleans(), rows=st.sampled_from([9, CANDIDATES]))
def test_draws_equal_the_naive_way_whatever_is_left_out(caplog, model, seed, consistent, rows):
    x = torch.randn(rows, 3, 23, 30)
    try:
        model(x)
    except RuntimeError:  # nothing is left to pool
        return
    check_equal(caplog, model, x, DRAWS, seed, consistent=consistent)


def test_emnist_leaves_out_a_row_and_a_column_of_two_convolutions(sides):
    torch.manual_seed(0)
    model, x = EMNISTCNN(), torch.randn(CANDIDATES, 1, 28, 28)
    fast = mc_dropout.predict_probs(model, x, DRAWS, seed=1, progress=False)
    assert sorted(set(sides)) == [(8, 8), (10, 10)]  # of 9 and 11
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 1), rtol=0, atol=1e-5)


class Reader(nn.Module):
    """Two look at what a convolution gives, one of them at less."""

    def __init__(self, other):
        super().__init__()
        self.other = other
        self.drop, self.conv, self.head = nn.Dropout2d(0.5), nn.Conv2d(2, 4, 2), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(self.drop(x))
        return self.head(F.max_pool2d(x, 2).amax((2, 3)) + self.other(x))


OTHERS = {
    "a sum of all": (lambda x: x.sum((2, 3)), (7, 9)),
    "a number of rows": (lambda x: x[..., 0, 0] * x.shape[2], (7, 9)),
    "a wider pooling": (lambda x: F.max_pool2d(x, 3, stride=2).mean((2, 3)), (7, 9)),
    "a narrower pooling": (lambda x: F.avg_pool2d(x, (2, 4)).mean((2, 3)), (6, 8)),
    "a pooling by name": (lambda x: F.max_pool2d(x, kernel_size=3, ceil_mode=True).mean((2, 3)), (7, 9)),
}


@pytest.mark.parametrize(("other", "computed"), OTHERS.values(), ids=OTHERS)
def test_who_looks_at_most_decides(sides, other, computed):
    torch.manual_seed(0)
    model, x = Reader(other), torch.randn(9, 2, 8, 10)
    fast = mc_dropout.predict_probs(model, x, DRAWS, seed=1, progress=False)
    assert set(sides) == {computed}
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 1), rtol=0, atol=1e-5)
