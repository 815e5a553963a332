"""The linear layer behind convolutions run by kernels: equal to PyTorch's, and used where it should be."""

import logging

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from infoacq.posteriors import _chunks, _linear_layer, _planes, mc_dropout
from infoacq.posteriors._linear_kernel import ROWS, Weighed, weigh
from infoacq.posteriors._planes_kernel import LANES
from models.emnist_cnn import EMNISTCNN
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs

DRAWS = 6  # from so many on


@pytest.fixture
def calls(monkeypatch):
    """Features and outputs of each call of the kernel."""
    seen = []

    def weigh(planes, layer, start, out):
        assert layer.weight.shape[1] * LANES == planes.size
        seen.append((layer.weight.shape[1], len(out)))
        kernel(planes, layer, start, out)

    kernel = _planes.weigh
    monkeypatch.setattr(_planes, "weigh", weigh)
    return seen


@settings(max_examples=60, deadline=None)
@given(
    dtype=st.sampled_from([np.float32, np.float64]),
    shape=st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 3)),
    outputs=st.integers(1, 20),
    candidates=st.integers(1, 70),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_kernel_equals_numpy(dtype, shape, outputs, candidates, seed):
    rng = np.random.default_rng(seed)
    start = LANES * (rng.integers(candidates) // LANES)
    planes = rng.standard_normal((*shape, LANES)).astype(dtype)
    blocks, features = -(-outputs // ROWS), int(np.prod(shape))
    weight = rng.standard_normal((blocks, features, ROWS)).astype(dtype)
    bias = rng.standard_normal(blocks * ROWS).astype(dtype)
    out = np.full((outputs + 1, candidates), 7.0, dtype)  # a row more than may be written
    weigh(planes, Weighed(weight, bias), start, out[:outputs])
    expected = np.full_like(out, 7.0)
    rows = weight.transpose(0, 2, 1).reshape(blocks * ROWS, features)[:outputs]
    sums = np.einsum("of, fl -> ol", rows, planes.reshape(features, LANES)) + bias[:outputs, None]
    here = expected[:outputs, start : start + LANES]
    here[:] = sums[:, : here.shape[1]]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-4 if dtype == np.float32 else 1e-12)


class Net(nn.Module):
    """Two convolutions between dropouts of whole channels, and a head behind them, flattened in many ways."""

    def __init__(self, flatten=lambda x: x.flatten(1), *, head=None, convolutions=1, share=0.4, dtype=torch.float32):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 7, 3, dtype=dtype), nn.Conv2d(7, 6, 5, dtype=dtype)
        self.conv3 = nn.Conv2d(6, 6, 3, padding=1, dtype=dtype) if convolutions == 2 else nn.Identity()
        self.drop1, self.drop2, self.drop3 = nn.Dropout2d(0.3), nn.Dropout2d(share), nn.Dropout2d(0.5)
        self.flatten = flatten
        self.head = head or nn.Sequential(nn.Linear(96, 20), nn.Dropout(0.5), nn.ReLU(), nn.Linear(20, 3))
        self.head.to(dtype)

    def features(self, x: Tensor) -> Tensor:
        x = F.relu(F.max_pool2d(self.drop2(self.conv2(self.drop1(self.conv1(x)))), 2))
        return x if isinstance(self.conv3, nn.Identity) else F.relu(self.drop3(self.conv3(x)))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.flatten(self.features(x)))


class Twice(Net):
    """Something else reads the features too."""

    def forward(self, x: Tensor) -> Tensor:
        features = self.features(x)
        return self.head(self.flatten(features)) + features.mean((1, 2, 3), keepdim=True).flatten(1)


class Between(Net):
    def forward(self, x: Tensor) -> Tensor:
        return self.head(F.tanh(self.flatten(self.features(x)) + 0.1))


FLATTENED = {
    "flatten": lambda x: x.flatten(1),
    "a layer": nn.Flatten(),
    "view": lambda x: x.view(-1, 96),
    "the sizes of x": lambda x: x.view(x.size(0), -1),
    "its shape": lambda x: torch.reshape(x, (x.shape[0], 96)),
    "in two steps": lambda x: x.flatten(2).reshape(-1, 96),
}
HEADS = {
    "a dropout behind": lambda: None,
    "the last layer": lambda: nn.Linear(96, 3),
    "without bias": lambda: nn.Linear(96, 3, bias=False),
    "an activation": lambda: nn.Sequential(nn.Linear(96, 13), nn.Tanh(), nn.Dropout(0.5), nn.Linear(13, 3)),
    "all dropped": lambda: nn.Sequential(nn.Linear(96, 13), nn.Dropout(1.0), nn.Linear(13, 3)),
    "few kept": lambda: nn.Sequential(nn.Linear(96, 2), nn.Dropout(0.8), nn.Linear(2, 3)),
    "alpha": lambda: nn.Sequential(nn.Linear(96, 13), nn.AlphaDropout(0.5), nn.Linear(13, 3)),
}


def check_equal(model: nn.Module, x: Tensor, caplog) -> None:
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    assert "no draws by" not in caplog.text
    tolerance = 1e-6 if x.dtype is torch.float32 else 1e-13
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 3), rtol=0, atol=tolerance)


def images(dtype=torch.float32, rows=70):
    return torch.randn(rows, 1, 14, 14, dtype=dtype, generator=torch.Generator().manual_seed(1))


@pytest.mark.filterwarnings("ignore:all draws are identical")  # where all is dropped
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)
@pytest.mark.parametrize("convolutions", [1, 2])
def test_it_is_run_behind_the_convolutions(calls, caplog, head, convolutions, dtype):
    torch.manual_seed(0)
    model = Net(head=head(), convolutions=convolutions, dtype=dtype)
    check_equal(model, images(dtype), caplog)
    assert calls
    assert all(features % 16 == 0 and features <= 96 for features, _ in calls)


@pytest.mark.parametrize("flatten", FLATTENED.values(), ids=FLATTENED)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_however_planes_are_flattened(calls, caplog, flatten, share):
    torch.manual_seed(0)
    check_equal(Net(flatten, share=share), images(), caplog)
    assert calls


def of_rows() -> nn.Module:
    head = nn.Sequential(nn.Linear(16, 3), nn.Unflatten(0, (-1, 6)), nn.Flatten(1), nn.Linear(18, 3))
    return Net(lambda x: x.flatten(2).reshape(-1, 16), head=head)


ELSEWHERE = {
    "another reader": Twice,
    "an activation between": Between,
    "units dropped between": lambda: Net(head=nn.Sequential(nn.Dropout(0.2), nn.Linear(96, 3))),
    "channel by channel": of_rows,
    "in another order": lambda: Net(lambda x: x.transpose(1, 3).flatten(1)),
}


@pytest.mark.parametrize("build", ELSEWHERE.values(), ids=ELSEWHERE)
def test_it_is_left_to_pytorch_where_it_does_not_read_planes_alone(calls, caplog, build):
    torch.manual_seed(0)
    check_equal(build(), images(), caplog)
    assert not calls


def test_large_weights_are_left_to_pytorch(calls, caplog, monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setattr(_linear_layer, "_WEIGHT_BYTES", 20 * 96 * 4 - 1)
    check_equal(Net(), images(), caplog)
    assert not calls


@pytest.mark.parametrize(("build", "features", "outputs"), [(MNISTCNN, 1024, 128), (EMNISTCNN, 2048, 512)])
def test_the_papers_networks_are_run_so(calls, caplog, build, features, outputs):
    torch.manual_seed(0)
    check_equal(build(), torch.randn(40, 1, 28, 28), caplog)
    assert len(calls) == DRAWS + 2 * DRAWS  # to compare, and for two groups of candidates
    assert np.mean([given for given, _ in calls]) == pytest.approx(features / 2, rel=0.2)
    assert np.mean([kept for _, kept in calls]) == pytest.approx(outputs / 2, rel=0.2)


@pytest.mark.parametrize(("held", "groups", "made"), [(1.0, 1, 1), (0.5, 2, 4)])
def test_weights_are_cut_once_for_a_pool_unless_they_take_too_much(monkeypatch, held, groups, made):
    torch.manual_seed(0)
    model, x, kernel, seen = Net(), images(rows=64), _chunks.known_of_draws, []

    def known(first, draws, *given):
        seen.append(len(draws))
        return kernel(first, draws, *given)

    monkeypatch.setattr(_chunks, "known_of_draws", known)
    monkeypatch.setattr(_chunks, "_CHUNK_ROWS", 16)
    weights = 20 * 96 * 4 * 0.6 * 0.5  # what a draw keeps, in the mean
    monkeypatch.setattr(_chunks, "_ENDS_BYTES", int(held * DRAWS * (32 * 20 * 4 + weights)) + 1)
    monkeypatch.setattr(_chunks, "fitting_number", lambda: 2)
    fast = mc_dropout.predict_probs(model, x, DRAWS, seed=3, progress=False)
    torch.testing.assert_close(fast, naive_probs(model, x, DRAWS, 3), rtol=0, atol=1e-6)
    assert seen[-made:] == [DRAWS // groups] * made  # two chunks of 32 candidates; before, to compare
