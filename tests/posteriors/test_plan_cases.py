"""Models with something special in their graph: taken apart, or by a slower way with the reason in the debug log."""

import logging

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from infoacq.posteriors import mc_dropout
from tests.posteriors.naive import naive_probs
from tests.posteriors.opaque_models import (
    ChangesAView,
    ChangesItsInput,
    Counts,
    SharedBetweenDraws,
    SharedInPlace,
    TwoWays,
)
from tests.posteriors.special_models import (
    Base,
    Branches,
    Channels,
    CutBeforeItsUse,
    InPlaceChain,
    OptionalArgument,
    OwnLayer,
    OwnParameters,
    Residual,
    SecondNetwork,
    Sequence,
    ShapesInForward,
)


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
@pytest.mark.parametrize("consistent", [True, False])
def test_taken_apart_and_equal(kind, consistent, caplog):
    model, x = kind(), torch.randn(9, 1, 8, 8)
    slow = naive_probs(model, x, 13, seed=3, consistent=consistent)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, 13, seed=3, consistent=consistent, progress=False)
    assert "by the graph of the modules with dropout" not in caplog.text
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-5)
    assert float(fast.std(dim=1).max()) > 1e-3


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (TwoWays, "Proxy"),
        (SharedInPlace, "a tensor that is changed in place is used elsewhere too"),
        (SharedBetweenDraws, "a tensor that all draws share is changed in place"),
        (ChangesAView, "a tensor that is changed in place is used elsewhere too"),
        (ChangesItsInput, "a tensor that is changed in place is used elsewhere too"),
    ],
)
@pytest.mark.parametrize("consistent", [True, False])
def test_what_torch_fx_does_not_understand_is_logged_and_replayed(kind, reason, consistent, caplog):
    model, x = kind(), torch.randn(300, 1, 8, 8)
    before = x.clone()
    calls: list[int] = []
    model.conv1.__class__ = type("Conv", (nn.Conv2d,), {"forward": counting(calls)})
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        probs = mc_dropout.predict_probs(model, x, 6, seed=3, consistent=consistent, progress=False)
    assert reason in caplog.text
    assert "is run in full" not in caplog.text
    once = 2 if kind is SharedBetweenDraws else 1
    assert calls.count(256) == calls.count(44) == once  # for each block, not for each of six draws
    assert "forward" not in vars(model.conv1)
    assert torch.equal(x, before)
    torch.testing.assert_close(probs, naive_probs(model, x, 6, seed=3, consistent=consistent), rtol=0, atol=1e-6)


@pytest.mark.parametrize("consistent", [True, False])
def test_dropout_in_front_of_a_pooling_that_makes_its_features_more(consistent, caplog):
    """Each unit is a channel of one place there, and of four behind it; its mask is that of the one."""
    torch.manual_seed(0)
    layers = (nn.Conv2d(1, 6, 8), nn.Dropout(0.5), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(24, 3))
    model, x = nn.Sequential(*layers), torch.randn(30, 1, 8, 8)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        probs = mc_dropout.predict_probs(model, x, 5, seed=3, consistent=consistent, progress=False)
    assert not caplog.text
    torch.testing.assert_close(probs, naive_probs(model, x, 5, 3, consistent=consistent), rtol=0, atol=1e-6)


def counting(calls: list[int]):
    def forward(self, x):
        calls.append(len(x))
        return nn.Conv2d.forward(self, x)

    return forward


def test_a_model_that_is_no_function_of_its_input_is_run_in_full(caplog):
    model = Counts()
    with (
        caplog.at_level(logging.DEBUG, "infoacq.posteriors"),
        pytest.warns(UserWarning, match="other scores each time"),
    ):
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


@pytest.mark.parametrize("draws", [3, 7])  # the kernels serve the latter
@pytest.mark.parametrize("order", [(28, 36), (36, 28)])
def test_images_of_several_sizes_are_scored_as_each_on_its_own(caplog, draws, order):
    torch.manual_seed(0)
    inner = (nn.Conv2d(6, 8, 5), nn.Dropout2d(0.5), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.Dropout2d(0.5))
    head = (nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 3))
    model = nn.Sequential(nn.Conv2d(1, 6, 3), nn.Dropout2d(0.5), nn.ReLU(), *inner, *head)
    pool = [torch.randn(40, 1, side, side + 4) for side in order]
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, pool, draws, seed=1, progress=False)
    assert not caplog.text
    expected = torch.cat([naive_probs(model, images, draws, 1) for images in pool])
    torch.testing.assert_close(fast, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_no_number_shows_though_its_channel_is_dropped(seed):
    """As in the model, where zero times infinity is none; candidates that ways are compared on do not have it."""
    inner = (nn.Conv2d(8, 4, 3), nn.ReLU(), nn.Dropout2d(0.5), nn.Flatten(), nn.Linear(4 * 16, 3))
    model, x = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Dropout2d(0.5), *inner), torch.randn(30, 1, 8, 8)
    x[29] = 1e38
    with torch.no_grad():
        model[0].weight.copy_(1e-38 * torch.randn(8, 1, 3, 3))
        model[0].weight[2] = 9.0
    assert not naive_probs(model, x, 1, seed)[29].isfinite().any()
    with pytest.raises(ValueError, match="NaN or infinity for candidate 29"):
        mc_dropout.predict_probs(model, x, 1, seed=seed, progress=False)
