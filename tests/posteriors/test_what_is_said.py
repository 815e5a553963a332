"""What a model's forward may hold and still be taken apart, and what is said where it cannot be."""

import logging
import warnings

import pytest
import torch
from torch import nn

from infoacq.posteriors import mc_dropout
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs


class Normalised(MNISTCNN):
    """It makes tensors anew in each forward."""

    def forward(self, x):
        return super().forward((x - torch.tensor([0.1307])) / torch.tensor([0.3081]))


def test_tensors_made_in_the_forward_are_no_hindrance(caplog):
    torch.manual_seed(0)
    model, x = Normalised(), torch.rand(40, 1, 28, 28)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 10, seed=0, progress=False)
    assert not caplog.text
    assert not hasattr(model, "_tensor_constant0")
    torch.testing.assert_close(fast, naive_probs(model, x, 10, 0), rtol=0, atol=1e-6)


class Counted(MNISTCNN):
    """Such a tensor differs from call to call."""

    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x * torch.tensor([1.0 + self.calls % 2]))


def test_a_tensor_that_differs_from_call_to_call_is_not_taken_for_constant(caplog):
    torch.manual_seed(0)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mc_dropout.predict_probs(Counted(), torch.rand(40, 1, 28, 28), 10, seed=0, progress=False)
    assert "no draws by the graph of all modules" in caplog.text


class Noisy(nn.Module):
    """It drops by itself, in evaluation mode as well."""

    def forward(self, x):
        return x * torch.bernoulli(torch.full_like(x, 0.5))


def test_a_model_that_draws_by_itself_is_warned_of(flat):
    x = torch.rand(40, 6)
    with pytest.warns(UserWarning, match="gives other scores each time"):
        mc_dropout.predict_probs(flat(nn.Sequential(nn.Dropout(), Noisy())), x, 3, seed=0, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mc_dropout.predict_probs(flat(nn.Dropout()), x, 3, seed=0, progress=False)


def test_steps_that_draws_run_on_all_channels_are_named(caplog):
    layers = nn.Linear(6, 8), nn.Dropout(), nn.GroupNorm(2, 8), nn.Dropout(), nn.Linear(8, 3)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        mc_dropout.predict_probs(nn.Sequential(*layers), torch.rand(40, 6), 3, seed=0, progress=False)
    assert caplog.messages == ["each draw runs _2 on all channels"]


def test_weights_may_lie_in_memory_anyhow(caplog):
    torch.manual_seed(0)
    model, x = MNISTCNN(), torch.rand(40, 1, 28, 28)
    for layer in model.modules():
        if isinstance(layer, (nn.Conv2d, nn.Linear)):
            layer.bias = nn.Parameter(torch.randn(2 * len(layer.bias))[::2])
            layer.weight = nn.Parameter(layer.weight.detach().transpose(0, 1).contiguous().transpose(0, 1))
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 10, seed=0, progress=False)
    assert not caplog.text
    torch.testing.assert_close(fast, naive_probs(model, x, 10, 0), rtol=0, atol=1e-6)
