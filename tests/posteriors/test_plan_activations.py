"""Each activation on each side of a dropout of channels: what it makes of zero and of a scale must not be forgotten."""

import logging

import pytest
import torch
from torch import nn

from infoacq.posteriors import _ops, mc_dropout
from tests.posteriors.naive import naive_probs

MODULES = [kind for kind, traits in _ops._MODULES.items() if traits.rank is None]
FUNCTIONS = [function for function, traits in _ops._FUNCTIONS.items() if traits.rank is None]


class Calls(nn.Module):
    """A function or a tensor's method as a module that torch.fx looks into."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return getattr(x, self.function)() if isinstance(self.function, str) else self.function(x)


def build(activation: nn.Module) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        *(nn.Conv2d(1, 4, 3, padding=1), nn.Dropout2d(0.4), activation),
        *(nn.Conv2d(4, 5, 3, padding=1), activation, nn.Dropout2d(0.4), activation),
        *(nn.Conv2d(5, 4, 3, padding=1), nn.BatchNorm2d(4), nn.Dropout2d(0.4), nn.BatchNorm2d(4)),
        *(nn.Flatten(), nn.Linear(64, 8), nn.Dropout(0.4), activation, nn.Linear(8, 3)),
    )


@pytest.mark.parametrize("activation", [*MODULES, *FUNCTIONS], ids=lambda it: getattr(it, "__name__", str(it)))
def test_each_activation_around_dropout(activation, caplog):
    model = build(activation() if activation in MODULES else Calls(activation))
    for norm in (model[8], model[10]):
        nn.init.normal_(norm.running_mean)
        nn.init.normal_(norm.bias)
    x = torch.randn(4, 1, 4, 4)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 2, seed=1, progress=False)
    assert not caplog.text
    torch.testing.assert_close(fast, naive_probs(model, x, 2, seed=1), rtol=0, atol=1e-5)


def test_values_at_zero_and_under_a_scale_are_what_the_table_says():
    x = torch.linspace(-8, 8, 41, dtype=torch.float64)
    for kind, traits in _ops._MODULES.items():
        if traits.rank is None:
            f = kind()
            assert (float(f(torch.zeros(1))) == 0) == traits.keeps_zero, kind
            assert torch.allclose(f(1.7 * x), 1.7 * f(x), atol=1e-9) == traits.scales, kind
