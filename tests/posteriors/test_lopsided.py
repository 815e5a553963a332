"""Tiles round in proportion to the largest number near by: where others count as much, they must not be used."""

import copy
import logging

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from infoacq.posteriors import _planes, mc_dropout
from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._winograd_kernel import LARGEST, is_lopsided
from tests.posteriors.naive import naive_probs

DRAWS = 8


@settings(max_examples=80, deadline=None)
@given(
    dtype=st.sampled_from([np.float32, np.float64]),
    shape=st.tuples(st.integers(0, 4), st.integers(1, 5), st.integers(1, 5)),
    margin=st.integers(0, 2),
    times=st.sampled_from([1.0, 30.0, 39.9, 40.1, 50.0, -40.1, 1e4]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_largest_of_each_candidate_beside_its_mean(dtype, shape, margin, times, seed):
    rng = np.random.default_rng(seed)
    planes = rng.uniform(-1, 1, (*shape, LANES)).astype(dtype)
    count, lane = planes.size // LANES, rng.integers(LANES)
    if count > abs(times):  # a number can be no more times the mean than there are numbers
        flat = planes.reshape(-1, LANES)
        rest = np.abs(flat[1:, lane]).sum()
        flat[0, lane] = times * rest / (count - abs(times))  # so many times the mean, itself included
    sizes = np.abs(planes.astype(float)).reshape(-1, LANES)
    expected = count > 0 and bool((sizes.max(0) > LARGEST * sizes.mean(0)).any())
    framed = np.pad(planes, ((0, 0), (margin, 0), (0, margin), (0, 0)))
    assert is_lopsided(framed, shape[1] * shape[2]) == expected


def spotted() -> tuple[nn.Module, torch.Tensor]:
    """Even images, some of which have a spot; a convolution takes the evenness away, and the head looks elsewhere."""
    torch.manual_seed(0)
    layers: list[nn.Module] = [nn.Conv2d(1, 8, 1, bias=False), nn.Dropout2d(0.25)]
    for _ in range(2):
        layers += [nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.25)]
    model = nn.Sequential(*layers, nn.Flatten(), nn.Linear(8 * 14 * 14, 5))
    x = 0.5 + 0.01 * torch.randn(64, 1, 14, 14)
    x[40:, 0, 0, 0] = 3.0
    with torch.no_grad():
        model[0].weight.uniform_(0.5, 1.0)
        model[2].weight.zero_()
        model[2].weight[range(8), range(8), 1, 1] = 1.0
        model[2].bias.copy_(-0.5 * model[0].weight.flatten() / 0.75)
        looked_at = torch.zeros(14, 14)
        looked_at[:4, :4], looked_at[:2, :2] = 3000.0, 0.0
        model[-1].weight.mul_(looked_at.flatten().repeat(8))
    return model, x


def test_what_is_large_behind_the_first_convolution(monkeypatch, caplog):
    model, x = spotted()
    tiled, kernel = [], _planes.convolve
    monkeypatch.setattr(_planes, "convolve", lambda *given: (tiled.append(1), kernel(*given)))
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    exact = naive_probs(copy.deepcopy(model).double(), x.double(), DRAWS, 3)
    torch.testing.assert_close(fast.double(), exact, rtol=0, atol=1e-5)  # by tiles it is off by 3.5e-5
    assert "tiles would round others away" in caplog.text
    assert tiled  # the first 32 have no spot


class Normalises(nn.Module):
    def __init__(self, by):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Dropout2d(), nn.Conv2d(8, 16, 3), nn.Sigmoid())
        self.by, self.head = by, nn.Linear(16 * 36, 4)

    def forward(self, x):
        return self.head(self.by(self.layers(x)).flatten(1))


BY = {"layer": nn.GroupNorm(4, 16), "function": lambda x: nn.functional.group_norm(x, 4)}


@pytest.mark.parametrize("by", BY.values(), ids=BY)
def test_numbers_that_are_nearly_equal_are_normalised_as_the_model_does_it(by, caplog):
    """With channels last PyTorch loses 30 times as many digits of what is left when their mean is taken away."""
    model, x = Normalises(by), torch.randn(40, 1, 10, 10)
    with torch.no_grad():
        model.layers[2].weight.mul_(0.01)
        model.layers[2].bias.zero_()
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    assert "no draws by" not in caplog.text  # as other scores than the model's are
    own = naive_probs(model, x, DRAWS, 3)
    exact = naive_probs(copy.deepcopy(model).double(), x.double(), DRAWS, 3)
    assert (fast - exact).abs().max() < 5 * (own - exact).abs().max()
