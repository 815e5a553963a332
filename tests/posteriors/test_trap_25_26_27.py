"""Traps 25, 26, 27: no dropout layer, draws that are not consistent, layers that drop in other ways."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional

from infoacq.posteriors import ensemble, mc_dropout
from infoacq.posteriors._dropout import drop, mask_shape

predict_probs = partial(mc_dropout.predict_probs, progress=False)


class Functional(nn.Module):
    def __init__(self, *, always: bool = False, layer: nn.Module | None = None) -> None:
        super().__init__()
        self.linear, self.layer, self.always = nn.Linear(6, 3), layer or nn.Identity(), always

    def forward(self, x):
        return self.linear(functional.dropout(self.layer(x), 0.5, training=self.always or self.training))


def test_trap_25_a_model_without_dropout_names_the_way_out(flat):
    with pytest.raises(ValueError, match=r"no dropout layer.*nn\.Dropout layer in its place"):
        predict_probs(flat(), torch.randn(4, 6), 2, seed=0)


def test_trap_25_functional_dropout_alone_is_an_error():
    with pytest.raises(ValueError, match=r"no dropout layer.*calls dropout"):
        predict_probs(Functional(), torch.randn(4, 6), 2, seed=0)


def test_trap_25_functional_dropout_that_is_always_on_is_an_error():
    with pytest.raises(ValueError, match="calls dropout with dropout always on"):
        predict_probs(Functional(always=True, layer=nn.Dropout()), torch.randn(4, 6), 2, seed=0)


@pytest.mark.parametrize("name", ["dropout", "alpha_dropout", "feature_dropout", "feature_alpha_dropout", "dropout_"])
@pytest.mark.parametrize("how", ["place", "name"])
def test_trap_25_dropout_by_torchs_own_functions_is_noticed(flat, name, how):
    class Direct(nn.Module):
        def forward(self, x):
            function, x = getattr(torch, name), x.clone()
            return function(x, 0.5, True) if how == "place" else function(x, p=0.5, train=True)

    with pytest.raises(ValueError, match=f"calls {name} with dropout always on"):
        predict_probs(nn.Sequential(flat(nn.Dropout()), Direct()), torch.randn(4, 6), 2, seed=0)


def test_trap_25_a_member_of_an_ensemble_that_is_random_is_refused(flat):
    with pytest.raises(ValueError, match="member 1 calls dropout with dropout always on"):
        ensemble.predict_probs([flat(), Functional(always=True)], torch.randn(4, 6), progress=False)
    assert ensemble.predict_probs([flat(), Functional()], torch.randn(4, 6), progress=False).shape == (4, 2, 3)


def test_trap_25_functional_dropout_beside_a_layer_is_warned_of():
    with pytest.warns(UserWarning, match="inside dropout stays off"):
        predict_probs(Functional(layer=nn.Dropout()), torch.randn(4, 6), 2, seed=0)


def test_trap_25_attention_and_recurrent_layers_drop_out_of_sight():
    attention = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
    model = nn.Sequential(attention, nn.Flatten(), nn.Linear(24, 3))
    with pytest.warns(UserWarning, match="multi_head_attention_forward stays off"):
        probs = predict_probs(model, torch.randn(5, 3, 8), 4, seed=0)
    assert float(probs.std(dim=1).min()) > 0

    class Recurrent(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm, self.drop = nn.LSTM(4, 6, num_layers=2, dropout=0.3, batch_first=True), nn.Dropout()

        def forward(self, x):
            return self.drop(self.lstm(x)[0][:, -1])

    with pytest.warns(UserWarning, match="inside LSTM stays off"):
        predict_probs(Recurrent(), torch.randn(5, 3, 4), 4, seed=0)


def test_trap_25_a_layer_with_a_forward_of_its_own_is_refused(flat):
    class AlwaysOn(nn.Dropout):
        def forward(self, x):
            return functional.dropout(x, self.p, training=True)

    with pytest.raises(TypeError, match=r"'2' is a AlwaysOn with a forward of its own.*plain torch\.nn"):
        predict_probs(flat(AlwaysOn()), torch.randn(4, 6), 2, seed=0)


def test_trap_25_identical_draws_are_warned_of(flat):
    with pytest.warns(UserWarning, match="all draws are identical"):
        predict_probs(flat(nn.Dropout(0.0)), torch.randn(4, 6), 2, seed=0)


def test_trap_26_the_default_is_consistent_and_the_other_way_is_not(flat):
    model = flat(nn.Dropout(0.5))
    same = torch.randn(1, 6).expand(300, 6)  # one candidate three hundred times, in two batches
    consistent = predict_probs(model, same, 2, seed=0)
    torch.testing.assert_close(consistent, consistent[:1].expand_as(consistent), rtol=0, atol=1e-6)
    independent = predict_probs(model, same, 2, seed=0, consistent=False)
    assert len(independent[:, 0].unique(dim=0)) > 290
    assert torch.equal(independent, predict_probs(model, same, 2, seed=0, consistent=False))
    assert not torch.equal(independent, predict_probs(model, same, 2, seed=1, consistent=False))


def test_trap_26_both_ways_have_the_same_mean(flat):
    model, x = flat(nn.Dropout(0.5), width=8), torch.randn(1, 6)
    consistent = predict_probs(model, x, 1500, seed=0)[0]
    independent = predict_probs(model, x.expand(1500, 6), 1, seed=1, consistent=False)[:, 0]
    error = (consistent.var(dim=0) / 1500 + independent.var(dim=0) / 1500).sqrt()
    assert bool(((consistent.mean(0) - independent.mean(0)).abs() < 4 * error).all())
    assert bool((consistent.std(0) > 0.01).all())


LAYERS = [
    (nn.Dropout, (3, 7)),
    (nn.Dropout, (3, 4, 5, 5)),
    (nn.Dropout1d, (3, 7, 5)),
    (nn.Dropout2d, (3, 7, 5, 5)),
    (nn.Dropout3d, (3, 7, 2, 3, 4)),
    (nn.AlphaDropout, (3, 7)),
    (nn.FeatureAlphaDropout, (3, 7, 4)),
]


@pytest.mark.parametrize(("kind", "shape"), LAYERS)
@pytest.mark.parametrize("p", [0.0, 0.3, 0.9, 1.0])
def test_trap_27_given_torchs_own_mask_the_output_is_torchs(kind, shape, p):
    layer, x = kind(p), torch.randn(shape) + 3.0
    torch.manual_seed(0)
    expected = layer.train()(x)
    torch.manual_seed(0)
    pattern = layer(torch.ones(shape))  # two values at most: kept and dropped; both units kept if p = 0
    keep = pattern == kind(0.0 if p == 0 else p).train()(torch.ones(1, 400, *shape[2:])).max()
    keep = torch.zeros_like(keep) if p == 1.0 else keep
    channel_keep = keep[tuple(slice(n) for n in mask_shape(layer, shape))]
    assert torch.equal(channel_keep.expand(shape), keep)  # the mask is constant where torch's is
    torch.testing.assert_close(drop(layer, x, channel_keep), expected)


@pytest.mark.parametrize(("kind", "shape"), [(nn.Dropout1d, (3, 7)), (nn.Dropout3d, (3, 7, 5, 5))])
def test_trap_27_an_input_that_torch_reads_as_one_candidate_is_refused(kind, shape):
    with pytest.raises(ValueError, match="without a batch axis"):
        predict_probs(nn.Sequential(kind(0.5), nn.Flatten()), torch.randn(shape), 2, seed=0)
