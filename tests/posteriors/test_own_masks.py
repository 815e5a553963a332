"""Masks of a candidate's own: the kernel that serves all draws of them equals the model's own forward."""

import logging
from itertools import chain, product

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq.posteriors import _chunks, _own_masks, mc_dropout
from infoacq.posteriors._planes_kernel import AT_ONCE, LANES, NEAR, PAIR, Layer, add_up_separately
from models.mnist_cnn import MNISTCNN
from tests.posteriors.naive import naive_probs

DRAWS = 6  # from so many on
BATCHES = [31, 256, 1, 250]  # of a loader, of which the last two make one block


@pytest.fixture
def calls(monkeypatch):
    """How many draws the kernel serves, call by call."""
    seen = []

    def add_up_separately(planes, layer, keeps, out):
        seen.append(len(keeps))
        kernel(planes, layer, keeps, out)

    kernel = _own_masks.add_up_separately
    monkeypatch.setattr(_own_masks, "add_up_separately", add_up_separately)
    return seen


def layer_of(weight, bias, stride, window, sides, least, scale, seed):
    """As the kernel wants it, for planes that are ten wide; its runs in no order."""
    places = [y * 10 + x for y in range(weight.shape[2]) for x in range(weight.shape[3])]
    inside = [(y, x) for y in range(window[0]) for x in range(window[1])]
    windows = [
        [y * stride[0] * 10 + (column * window[1] + x) * stride[1] for y, x in inside] for column in range(sides[1])
    ]
    together = max(1, AT_ONCE // len(inside))
    blocks = [list(chain(*windows[first : first + together])) for first in range(0, sides[1], together)]
    length = -(-max(map(len, blocks)) // AT_ONCE) * AT_ONCE
    runs = list(product(range(sides[0]), range(0, len(blocks), NEAR), range(0, len(weight), PAIR)))
    return Layer(
        weight=weight.flatten(2).contiguous().numpy(),
        bias=bias.numpy(),
        offsets=LANES * np.array(places),
        blocks=LANES * np.array([block + [0] * (length - len(block)) for block in blocks]),
        row=window[0] * stride[0] * 10 * LANES,
        window=len(inside),
        together=together,
        sides=sides,
        order=np.random.default_rng(seed).permutation(runs).T,
        scale=bias.new_tensor([scale]).numpy(),
        floor=bias.new_tensor([least]).numpy(),
        corner=(0, 0),
    )


@settings(max_examples=60)
@given(
    dtype=st.sampled_from([torch.float32, torch.float64]),
    channels=st.tuples(st.integers(1, 18), st.integers(1, 4)),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    stride=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    window=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    least=st.sampled_from([0.0, -np.inf]),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_kernel_equals_pytorch(dtype, channels, kernel, stride, window, least, seed):
    rng, (inner, outer), draws, scale = torch.Generator().manual_seed(seed), channels, 3, 1.7
    x = torch.randn(LANES, inner, 9, 10, dtype=dtype, generator=rng)
    weight = torch.randn(outer, inner, *kernel, dtype=dtype, generator=rng)
    bias = torch.randn(outer, dtype=dtype, generator=rng)
    keeps = torch.rand(draws, LANES, inner, generator=rng) < 0.5
    dropped = [x * keep[:, :, None, None].to(dtype) * scale for keep in keeps]
    wide = torch.stack([F.conv2d(each, weight, bias, stride) for each in dropped])
    expected = F.max_pool2d(wide.flatten(0, 1), window, window).clamp(min=least).unflatten(0, (draws, LANES))
    layer = layer_of(weight, bias, stride, window, tuple(expected.shape[3:]), least, scale, seed)
    kept = keeps.transpose(1, 2).to(dtype).contiguous().numpy()
    out = np.full((draws, outer, *expected.shape[3:], LANES), np.nan, kept.dtype)
    planes = x.permute(1, 2, 3, 0).contiguous().numpy()
    add_up_separately(planes, layer, kept, out)
    tolerance = 1e-4 if dtype is torch.float32 else 1e-12
    np.testing.assert_allclose(out, expected.permute(0, 2, 3, 4, 1).numpy(), rtol=0, atol=tolerance)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MNISTCNN()


@pytest.mark.parametrize(
    ("served", "bound"),  # six are for the comparison with the model on a few candidates
    [({6, 12}, {}), ({5, 6 - 5, 12 - 5 - 5}, {"near": 5}), ({6, 1024 // (31 + 256), 1024 // 251}, {"held": 1024})],
    ids=["all draws at once", "as many as stay near the processor", "as many as can be held"],
)
def test_a_pool_in_batches_equals_the_naive_way(model, calls, caplog, monkeypatch, served, bound):
    row_bytes = 64 * 4 * 4 * 4
    if "near" in bound:
        monkeypatch.setattr(_own_masks, "NEAR_BYTES", bound["near"] * LANES * row_bytes)
    if "held" in bound:
        monkeypatch.setattr(_chunks, "_ENDS_BYTES", bound["held"] * row_bytes)
    x = torch.randn(sum(BATCHES), 1, 28, 28)
    loader = list(torch.split(x, BATCHES))
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        fast = mc_dropout.predict_probs(model, loader, 12, seed=3, consistent=False, progress=False)
    assert not caplog.text
    assert set(calls) == served
    slow = naive_probs(model, x, 12, 3, consistent=False, blocks=[31, 256, 251])
    torch.testing.assert_close(fast, slow, rtol=0, atol=1e-6)


def test_it_serves_from_six_draws_on(model, calls):
    x = torch.randn(24, 1, 28, 28)
    mc_dropout.predict_probs(model, x, DRAWS - 1, seed=0, consistent=False, progress=False)
    assert calls == []
    mc_dropout.predict_probs(model, x, DRAWS, seed=0, consistent=False, progress=False)
    assert set(calls) == {DRAWS}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_hidden(model, value):
    x = torch.randn(40, 1, 28, 28)
    x[7, ..., 0] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        mc_dropout.predict_probs(model, x, DRAWS, seed=0, consistent=False, progress=False)
