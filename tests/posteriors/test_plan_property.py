"""Draws by parts equal draws by the model's own forward, over random architectures."""

import logging
from collections.abc import Callable

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from infoacq.posteriors import mc_dropout
from tests.posteriors.naive import naive_probs

ACTIVATIONS: list[Callable[[], nn.Module]] = [
    nn.ReLU,
    lambda: nn.ReLU(inplace=True),
    lambda: nn.LeakyReLU(0.2),
    nn.Tanh,
    nn.GELU,
    nn.Sigmoid,
    nn.Softplus,
    nn.Identity,
]
CANDIDATES = 24  # from so many on kernels run
PS = st.sampled_from([0.0, 0.2, 0.5, 0.9, 1.0])
SPATIAL_DROPOUT = st.sampled_from([nn.Dropout, nn.Dropout2d, nn.AlphaDropout, nn.FeatureAlphaDropout])


@st.composite
def spatial_layers(draw: st.DrawFn, channels: int) -> tuple[list[nn.Module], int]:
    """A convolution and a few layers of any kind behind it, in any order."""
    wide = draw(st.integers(1, 6))
    groups = draw(st.sampled_from([1, 1, 1, channels]))
    wide = wide if groups == 1 else channels
    conv = nn.Conv2d(
        channels,
        wide,
        draw(st.sampled_from([1, 3])),
        padding=1,
        padding_mode=draw(st.sampled_from(["zeros", "reflect"])),
        bias=draw(st.booleans()),
        groups=groups,
        stride=draw(st.sampled_from([1, 1, 2])),
    )
    others: list[nn.Module] = []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["drop", "drop", "act", "norm", "pool"]))
        if kind == "drop":
            others.append(draw(SPATIAL_DROPOUT)(draw(PS), inplace=draw(st.booleans())))
        elif kind == "act":
            others.append(draw(st.sampled_from(ACTIVATIONS))())
        elif kind == "norm":
            others.append(nn.BatchNorm2d(wide))
        else:
            others.append(draw(st.sampled_from([nn.MaxPool2d, nn.AvgPool2d]))(3, stride=1, padding=1))
    return [conv, *others], wide


@st.composite
def architectures(draw: st.DrawFn) -> nn.Sequential:
    layers: list[nn.Module] = []
    channels = 2
    for _ in range(draw(st.integers(0, 3))):
        block, channels = draw(spatial_layers(channels))
        layers += block
    layers += [nn.AdaptiveAvgPool2d(2), nn.Flatten()]
    width = channels * 4
    for _ in range(draw(st.integers(0, 2))):
        wide = draw(st.integers(1, 8))
        layers.append(nn.Linear(width, wide, bias=draw(st.booleans())))
        width = wide
        for _ in range(draw(st.integers(0, 3))):
            kind = draw(st.sampled_from(["drop", "act", "norm"]))
            layers.append(
                {
                    "drop": lambda: draw(st.sampled_from([nn.Dropout, nn.AlphaDropout]))(draw(PS)),
                    "act": lambda: draw(st.sampled_from(ACTIVATIONS))(),
                    "norm": lambda: nn.BatchNorm1d(wide),  # noqa: B023
                }[kind]()
            )
    layers += [nn.Dropout(draw(PS)), nn.Linear(width, 3)]
    return nn.Sequential(*layers)


def randomised(model: nn.Module, seed: int) -> nn.Module:
    """Weights, and BatchNorm statistics far from the identity."""
    torch.manual_seed(seed)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            nn.init.normal_(module.running_mean)
            nn.init.uniform_(module.running_var, 0.5, 2.0)
            nn.init.normal_(module.weight)
            nn.init.normal_(module.bias)
    return model


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=architectures(), seed=st.integers(0, 2**32 - 1))
def test_draws_by_parts_equal_the_naive_way(caplog, recwarn, model, seed):
    check_equal(caplog, model, torch.randn(9, 2, 6, 6), 3, seed)
    recwarn.clear()  # all draws are the same where every p is 0 or 1


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(model=architectures(), seed=st.integers(0, 2**32 - 1), rows=st.sampled_from([1, 9, 300]))
def test_masks_of_a_candidates_own_by_parts_equal_the_naive_way(caplog, recwarn, model, seed, rows):
    check_equal(caplog, model, torch.randn(rows, 2, 6, 6), 3, seed, consistent=False)
    recwarn.clear()


POOLINGS: list[Callable[[], nn.Module]] = [
    lambda: nn.MaxPool2d(2),
    lambda: nn.MaxPool2d((1, 2)),
    lambda: nn.MaxPool2d(2, ceil_mode=True),
    lambda: nn.MaxPool2d(2, 1),
    lambda: nn.MaxPool2d(2, padding=1),
    lambda: nn.MaxPool2d(2, dilation=2),
    lambda: nn.AvgPool2d(2),
]


@st.composite
def convolutions_between_dropouts(draw: st.DrawFn) -> nn.Sequential:
    """Where one kernel serves all draws: channels are dropped before and after a convolution of many places."""
    inner, wide = draw(st.sampled_from([4, 20])), draw(st.integers(1, 5))
    conv = nn.Conv2d(
        inner,
        wide,
        draw(st.sampled_from([(4, 4), (5, 4), (3, 6), (3, 3)])),
        stride=draw(st.sampled_from([(1, 1), (2, 1), (1, 2)])),
        padding=draw(st.sampled_from([(0, 1), (2, 2), "valid"])),
        dilation=draw(st.sampled_from([(1, 1), (1, 1), (2, 1)])),
        bias=draw(st.booleans()),
    )
    between: list[nn.Module] = [
        {"norm": lambda: nn.BatchNorm2d(wide), "pool": pooling, "act": act}[kind]()
        for kind in draw(st.lists(st.sampled_from(["norm", "pool", "pool", "act"]), max_size=2))
        for act in (draw(st.sampled_from(ACTIVATIONS)),)
        for pooling in (draw(st.sampled_from(POOLINGS)),)
    ]
    behind = draw(st.sampled_from([[], [nn.ReLU()], [nn.MaxPool2d(2, 1), nn.ReLU(inplace=True)]]))
    before = [nn.Conv2d(2, inner, 1), nn.Dropout2d(draw(PS)), *draw(st.sampled_from([[], [nn.ReLU()]]))]
    head = [nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(4 * wide, 3)]
    return nn.Sequential(*before, conv, *between, nn.Dropout2d(draw(PS)), *behind, *head)


@settings(max_examples=90, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    model=convolutions_between_dropouts(),
    seed=st.integers(0, 2**32 - 1),
    rows=st.sampled_from([1, 24, 70]),
    consistent=st.booleans(),
)
def test_a_convolution_for_all_draws_at_once_equals_the_naive_way(caplog, recwarn, model, seed, rows, consistent):
    check_equal(caplog, model, torch.randn(rows, 2, 17, 16), 7, seed, consistent=consistent)
    recwarn.clear()


def check_equal(caplog, model: nn.Module, x: Tensor, draws: int, seed: int, *, consistent: bool = True) -> None:
    """The model is taken apart, and its parts give what it gives itself."""
    randomised(model, seed)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        caplog.clear()
        fast = mc_dropout.predict_probs(model, x, draws, seed=seed, consistent=consistent, progress=False)
    small = [message for message in caplog.messages if message.startswith("no kernels for the pool")]
    assert caplog.messages == (small if len(x) < CANDIDATES else [])
    torch.testing.assert_close(fast, naive_probs(model, x, draws, seed, consistent=consistent), rtol=0, atol=1e-5)
