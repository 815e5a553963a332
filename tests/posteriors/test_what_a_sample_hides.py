"""Models and pools on whose first candidates the faster ways are right, and would be wrong, or die, behind them."""

import copy
import logging

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from infoacq.posteriors import _planes, mc_dropout
from tests.posteriors.naive import naive_probs
from tests.posteriors.test_kernel_limits import DRAWS, check_equal


class Views(nn.Module):
    """Flattened by a view, which wants the layout that the model's own convolutions give."""

    def __init__(self, first: nn.Module):
        super().__init__()
        self.conv, self.hidden, self.drop, self.head = first, nn.LazyLinear(9), nn.Dropout(0.5), nn.Linear(9, 3)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(self.conv(x), 2)
        bytes_of = x.view(torch.int32).view(torch.float32)
        return self.head(self.drop(self.hidden(bytes_of.view(x.size(0), -1).view_as(x.flatten(1)))))


@pytest.mark.parametrize("deep", [False, True])
def test_views_of_a_block_that_kernels_do_not_run(deep, caplog):
    torch.manual_seed(0)
    model = Views(nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 5)) if deep else nn.Conv2d(1, 8, 5))
    x = torch.randn(256 + 10, 1, 20, 20)
    model(x)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        check_equal(model, x)
    assert "no draws by" not in caplog.text


@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_of_margin_behind_another_one(groups):
    """With channels last PyTorch 2.14 takes the process down; the convolution before gives them so."""
    torch.manual_seed(0)
    last = nn.Conv2d(6, 6, 1, stride=2, padding=1, dilation=3, groups=groups)
    head = (nn.Flatten(), nn.Linear(24, 4), nn.Dropout(0.5))
    check_equal(nn.Sequential(nn.Dropout2d(0.5), nn.Conv2d(4, 6, 3), last, *head), torch.randn(9, 4, 4, 3))


def wider(layer: nn.Conv2d) -> None:
    layer.weight = nn.Parameter(torch.randn(8, *layer.weight.shape[1:]))
    layer.bias = nn.Parameter(torch.randn(8))


def with_margin(layer: nn.Conv2d) -> None:
    layer.padding = (2, 2)


def larger(layer: nn.Conv2d) -> None:
    layer.weight = nn.Parameter(torch.randn(*layer.weight.shape[:2], 6, 6))


def of_two_steps(layer: nn.Conv2d) -> None:
    layer.stride = 2


@pytest.mark.parametrize("changed", [wider, with_margin, larger, of_two_steps])
@pytest.mark.parametrize("place", [0, 2], ids=["of images", "behind a dropout"])
def test_a_layer_whose_labels_are_stale(changed, place):
    """PyTorch reads the weight alone, and the padding as it is now."""
    torch.manual_seed(0)
    layers = [nn.Conv2d(1, 6, 5), nn.Dropout2d(0.5), nn.Conv2d(6, 6, 5), nn.ReLU(), nn.Dropout2d(0.5)]
    changed(layers[place])
    if changed is wider and place == 0:
        layers[2] = nn.Conv2d(8, 6, 5)
    model, x = (
        nn.Sequential(*layers, nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.LazyLinear(3)),
        torch.randn(40, 1, 20, 20),
    )
    model(x)
    check_equal(model, x)


class Scales(nn.Module):
    """Large images are divided, which the first candidates do not need."""

    def __init__(self, asks):
        super().__init__()
        self.asks = asks
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        try:
            if self.asks(x):
                x = x / 255
        except Exception:
            pass
        return self.layers(x)


ASKS = {
    "whether it is a tensor": lambda x: torch.is_tensor(x) and x.max() > 50,
    "of which class it is": lambda x: isinstance(x, Tensor) and bool((x > 50).any()),
    "for its largest number": lambda x: x.max() > 50,
    "for its numbers": lambda x: any(float(number) > 50 for number in x.flatten()),
}


@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_a_branch_that_the_first_candidates_do_not_take(asks, caplog):
    torch.manual_seed(0)
    x = torch.randn(300, 1, 4, 4)
    x[256:] = x[256:] * 40 + 60
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        check_equal(Scales(asks), x)
    assert "its way depends on the numbers" in caplog.text or "Proxy" in caplog.text


def test_one_large_number_in_a_tile(monkeypatch):
    """Its rounding would spread over what else is in the tile; half of the head looks elsewhere."""
    torch.manual_seed(0)
    calls, tiles = [], _planes.convolve
    monkeypatch.setattr(_planes, "convolve", lambda *given: (calls.append(1), tiles(*given)))
    layers = [nn.Conv2d(1, 8, 3, padding=1)]
    for channels in (8, 16):
        layers += [nn.Dropout2d(0.5), nn.Conv2d(channels, 16, 3, padding=1), nn.MaxPool2d(2), nn.ReLU()]
    layers += [nn.Dropout2d(0.5), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Dropout2d(0.5)]
    model, x = nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * 36, 5)), torch.randn(60, 1, 24, 24)
    with torch.no_grad():
        model[-1].weight.mul_(2 / model.eval()(x).std())
        model[-1].weight.view(5, 16, 6, 6)[:, :, :3, :3] = 0.0
    check_equal(model, x)
    assert calls
    x[50:, 0, 0, 0] = 1e4
    fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    exact = naive_probs(copy.deepcopy(model).double(), x.double(), DRAWS, 3)
    torch.testing.assert_close(fast.double(), exact, rtol=0, atol=1e-5)


def test_candidates_that_a_reshape_puts_side_by_side():
    torch.manual_seed(0)

    class Mixes(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.last = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 6, 4)
            self.drops = nn.ModuleList([nn.Dropout2d(0.5), nn.Dropout2d(0.5)])
            self.head, self.pool = nn.LazyLinear(5), nn.AvgPool1d(7, 1, 3)

        def forward(self, x: Tensor) -> Tensor:
            y = self.head(self.drops[1](F.relu(self.last(self.drops[0](self.conv(x))))).flatten(1))
            return self.pool(y.reshape(1, 1, -1)).view(x.size(0), 5)

    model, x = Mixes(), torch.randn(200, 1, 15, 15)
    model(x)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("infoacq.posteriors._chunks._ENDS_BYTES", 40 * DRAWS * 6 * 8 * 8 * 4)  # what 40 candidates take
        check_equal(model, x)


class Keeps(nn.Module):
    """Holds what it saw in a list and a dict."""

    def __init__(self):
        super().__init__()
        self.seen, self.by_rows = [], {}
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.append(x)
        self.by_rows[x.shape[0]] = x
        return self.layers(x)


def test_what_a_model_keeps_are_tensors():
    model = Keeps()
    mc_dropout.predict_probs(model, torch.randn(30, 4), 2, seed=0, progress=False)
    assert {type(value) for value in (*model.seen, *model.by_rows.values())} == {Tensor}
    assert {type(rows) for rows in model.by_rows} == {int}


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_dropout_in_a_script_is_warned_of():
    script = torch.jit.script(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5)))
    model = nn.Sequential(script, nn.Dropout(0.5), nn.Linear(8, 3))
    with pytest.warns(UserWarning, match="inside a scripted Dropout stays off"):
        mc_dropout.predict_probs(model, torch.randn(30, 4), 2, seed=0, progress=False)
