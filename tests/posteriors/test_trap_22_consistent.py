"""Trap 22: the same masks for every candidate, however the pool is cut."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from infoacq.posteriors import mc_dropout

predict_probs = partial(mc_dropout.predict_probs, progress=False)


@pytest.mark.parametrize("batch_size", [1, 5, 8, 23, 100])
def test_trap_22_any_batch_size_and_a_ragged_last_batch(nested, images, batch_size):
    whole = predict_probs(nested, images, 4, seed=3)
    loader = DataLoader(TensorDataset(images), batch_size=batch_size)
    torch.testing.assert_close(predict_probs(nested, loader, 4, seed=3), whole, rtol=0, atol=1e-6)


def test_trap_22_one_candidate_alone_has_the_same_predictions(nested, images):
    whole = predict_probs(nested, images, 4, seed=3)
    for i in (0, 11, 22):
        alone = predict_probs(nested, images[i : i + 1], 4, seed=3)
        torch.testing.assert_close(alone[0], whole[i], rtol=0, atol=1e-6)


@pytest.mark.parametrize("workers", [1, 2])
def test_trap_22_any_number_of_loader_workers(nested, images, workers):
    loader = DataLoader(TensorDataset(images), batch_size=6, num_workers=workers)
    whole = predict_probs(nested, images, 3, seed=0)
    torch.testing.assert_close(predict_probs(nested, loader, 3, seed=0), whole, rtol=0, atol=1e-6)


def test_trap_22_a_shuffled_loader_gives_its_own_order(nested, images):
    labels = torch.arange(len(images))
    generator = torch.Generator().manual_seed(5)
    loader = DataLoader(TensorDataset(images, labels), batch_size=4, shuffle=True, generator=generator)
    order = torch.cat([y for _, y in loader])
    generator.manual_seed(5)
    shuffled = predict_probs(nested, loader, 3, seed=0)
    assert not torch.equal(order, labels)
    torch.testing.assert_close(shuffled, predict_probs(nested, images, 3, seed=0)[order], rtol=0, atol=1e-6)


def test_trap_22_draws_differ_and_so_do_seeds(nested, images):
    probs = predict_probs(nested, images, 6, seed=0)
    for a in range(6):
        for b in range(a):
            assert not torch.allclose(probs[:, a], probs[:, b], atol=1e-3)
    other = predict_probs(nested, images, 6, seed=1)
    assert not torch.isclose(probs, other, atol=1e-6).all(dim=2).any()


def test_trap_22_the_same_dropout_layer_used_twice_has_two_masks():
    layer = nn.Dropout(0.5)
    model = nn.Sequential(layer, layer)  # kept by both: p = 1/4 if independent, 1/2 if the mask is reused
    probs = predict_probs(model, torch.ones(1, 20_000), 1, seed=0)
    kept = (probs[0, 0] > probs[0, 0].min()).double().mean()
    assert abs(float(kept) - 0.25) < 4 * (0.25 * 0.75 / 20_000) ** 0.5


def test_trap_22_the_share_of_dropped_units_is_p():
    for seed, p in enumerate((0.1, 0.5, 0.8)):
        probs = predict_probs(nn.Sequential(nn.Dropout(p)), torch.ones(1, 1000), 40, seed=seed)
        dropped = (probs == probs.amin(dim=2, keepdim=True)).double().mean()
        assert abs(float(dropped) - p) < 4 * (p * (1 - p) / 40_000) ** 0.5


def test_trap_22_masks_are_the_same_on_every_machine():
    """A unit stays when the top bit of its Philox word is set (p = 1/2): stored draws must mean the same for ever."""
    probs = predict_probs(nn.Sequential(nn.Dropout(0.5)), torch.ones(1, 16), 2, seed=7)
    kept = (probs[0] > probs[0].amin(dim=1, keepdim=True)).int().tolist()
    assert ["".join(map(str, row)) for row in kept] == ["0000110001010001", "0111011111111010"]


def test_trap_22_features_of_another_shape_are_refused():
    model = nn.Sequential(nn.Conv1d(1, 2, 1), nn.Dropout(0.5), nn.AdaptiveAvgPool1d(3), nn.Flatten())
    batches = [torch.randn(4, 1, 9), torch.randn(4, 1, 10)]
    with pytest.raises(ValueError, match=r"'1' got features of shape \(2, 10\).*\(2, 9\).*Pad or crop"):
        predict_probs(model, batches, 2, seed=0)
    assert predict_probs(model, batches, 2, seed=0, consistent=False).shape == (8, 2, 6)


def test_trap_22_candidates_off_the_first_axis_are_refused():
    class TimeFirst(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x.transpose(0, 1)).mean(0)

    with pytest.raises(ValueError, match=r"got 5 rows for 2 candidates.*batch axis first"):
        predict_probs(TimeFirst(), torch.randn(7, 5, 3), 2, seed=0)
