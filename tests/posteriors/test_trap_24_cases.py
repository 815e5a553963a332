"""Trap 24: the extremes of p, more draws, two models at once, nested containers, another device."""

from functools import partial

import pytest
import torch
from torch import nn

from infoacq.posteriors import mc_dropout

predict_probs = partial(mc_dropout.predict_probs, progress=False)


def test_trap_24_p_zero_is_the_plain_network(flat, images):
    model, x = flat(nn.Dropout(0.0), nn.Dropout(0.5)), images.flatten(1)[:, :6]
    without = flat(nn.Identity(), nn.Dropout(0.5))
    first = predict_probs(model, x, 1, seed=0)
    # The second layer keeps its place among the dropout layers, so its masks would differ without the first.
    assert not torch.equal(first, predict_probs(without, x, 1, seed=0))
    model[2].p, model[3].p = 0.0, 0.0
    expected = model.eval()(x).softmax(1).detach()
    torch.testing.assert_close(predict_probs(model, x, 1, seed=0)[:, 0], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "layer", [nn.Dropout(1.0), nn.AlphaDropout(1.0), nn.Dropout2d(1.0), nn.FeatureAlphaDropout(1.0)]
)
def test_trap_24_p_one_leaves_the_bias_alone(layer):
    model = nn.Sequential(nn.Conv2d(1, 5, 3), layer, nn.Flatten(), nn.Linear(5 * 4, 3))
    with pytest.warns(UserWarning, match="all draws are identical"):
        probs = predict_probs(model, torch.randn(4, 1, 4, 4), 2, seed=0)
    expected = model[3].bias.softmax(0).detach().expand(4, 2, 3)
    torch.testing.assert_close(probs, expected, rtol=0, atol=1e-6)


def test_trap_24_more_draws_keep_the_first_ones(nested, images):
    few, many = predict_probs(nested, images, 3, seed=4), predict_probs(nested, images, 7, seed=4)
    torch.testing.assert_close(many[:, :3], few, rtol=0, atol=1e-6)
    torch.testing.assert_close(predict_probs(nested, images, 3, seed=4), few, rtol=0, atol=0)


def test_trap_24_two_models_at_once(flat, images):
    one, two, x = flat(nn.Dropout(0.5)), flat(nn.Dropout(0.2)), images.flatten(1)[:, :6]
    alone = predict_probs(one, x, 3, seed=0), predict_probs(two, x, 3, seed=0)

    def batches():
        for i in range(0, len(x), 4):
            inner = predict_probs(two, x[i : i + 4], 3, seed=0)  # while the other one is under way
            torch.testing.assert_close(inner, alone[1][i : i + 4], rtol=0, atol=1e-6)
            yield x[i : i + 4]

    torch.testing.assert_close(predict_probs(one, batches(), 3, seed=0), alone[0], rtol=0, atol=1e-6)


def test_trap_24_containers_around_a_model_change_nothing(nested, images):
    wrapped = nn.ModuleDict({"a": nn.Sequential(nn.Sequential(nested))})["a"]
    expected = predict_probs(nested, images, 3, seed=0)
    torch.testing.assert_close(predict_probs(wrapped, images, 3, seed=0), expected, rtol=0, atol=1e-6)


def test_trap_24_other_dtypes_give_probabilities_of_at_least_single_precision(flat, images):
    x = images.flatten(1)[:, :6]
    single = predict_probs(flat(nn.Dropout(0.5)), x, 3, seed=0)
    double = predict_probs(flat(nn.Dropout(0.5)).double(), x.double(), 3, seed=0)
    brain = predict_probs(flat(nn.Dropout(0.5)).bfloat16(), x.bfloat16(), 3, seed=0)
    assert (single.dtype, double.dtype, brain.dtype) == (torch.float32, torch.float64, torch.float32)
    torch.testing.assert_close(single.double(), double, rtol=0, atol=1e-6)
    torch.testing.assert_close(brain, single, rtol=0, atol=3e-2)
    assert float((brain.sum(2) - 1).abs().max()) < 1e-6


def test_trap_24_a_model_on_another_device_is_copied_there_and_stays(nested, images):
    with pytest.raises(RuntimeError, match="meta"):  # a device without data: the copy went there
        predict_probs(nested, images, 2, seed=0, device="meta")
    assert next(nested.parameters()).device.type == "cpu"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_trap_24_the_same_draws_on_cuda(nested, images):
    here = predict_probs(nested, images, 5, seed=0)
    there = predict_probs(nested, images, 5, seed=0, device="cuda")
    assert next(nested.parameters()).device.type == "cpu"
    assert there.device.type == "cpu"
    torch.testing.assert_close(there, here, rtol=0, atol=1e-4)
    random = torch.cuda.get_rng_state()
    moved = predict_probs(nested.cuda(), images, 5, seed=0)
    torch.testing.assert_close(moved, here, rtol=0, atol=1e-4)
    assert torch.equal(torch.cuda.get_rng_state(), random)
