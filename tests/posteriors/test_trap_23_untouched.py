"""Trap 23: scoring leaves the model, the caller's data and the global random state as they were."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from infoacq.posteriors import mc_dropout

predict_probs = partial(mc_dropout.predict_probs, progress=False)


def snapshot(model: nn.Module) -> dict[str, object]:
    return {
        "flags": [m.training for m in model.modules()],
        "hooks": [(dict(m._forward_hooks), dict(m._forward_pre_hooks)) for m in model.modules()],
        "attributes": [sorted(vars(m)) for m in model.modules()],
        "p": [getattr(m, "p", None) for m in model.modules()],
        "grad": [(p.requires_grad, p.grad) for p in model.parameters()],
        "identity": [p.data_ptr() for p in model.state_dict().values()],
    }


@contextmanager
def unchanged(model: nn.Module) -> Iterator[None]:
    state = {name: value.clone() for name, value in model.state_dict().items()}
    before, random = snapshot(model), torch.get_rng_state()
    yield
    assert snapshot(model) == before
    assert torch.equal(torch.get_rng_state(), random)
    assert list(model.state_dict()) == list(state)
    for name, value in model.state_dict().items():
        assert torch.equal(value, state[name]), name


def mixed_flags(model: nn.Module) -> nn.Module:
    model.train()
    model.blocks[0][1].eval()
    next(model.parameters()).requires_grad_(False)
    model.head.register_forward_hook(lambda module, args, output: None)
    model.drop.p = 0.35
    return model


@pytest.mark.parametrize("consistent", [True, False])
def test_trap_23_flags_statistics_hooks_and_random_state(nested, images, consistent):
    model = mixed_flags(nested)
    loader = DataLoader(TensorDataset(images), batch_size=5, shuffle=True)
    with unchanged(model):
        probs = predict_probs(model, loader, 3, seed=0, consistent=consistent)
    assert not probs.requires_grad
    assert probs.grad_fn is None


class StopError(Exception):
    pass


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
def test_trap_23_an_exception_in_the_middle(nested, images, error):
    model = mixed_flags(nested)

    def batches() -> Iterator[Tensor]:
        yield images[:5]
        torch.rand(3)
        raise error

    with unchanged(model), pytest.raises(error):
        predict_probs(model, batches(), 3, seed=0)


def test_trap_23_an_exception_in_the_model(images):
    class Fails(nn.Sequential):
        calls = 0

        def forward(self, x):
            type(self).calls += 1
            if self.calls > 3:
                raise StopError
            return super().forward(x)

    model = Fails(nn.Flatten(), nn.Dropout(0.5), nn.Linear(64, 3))
    with unchanged(model), pytest.raises(StopError):
        predict_probs(model, images, 9, seed=0)


def test_trap_23_layers_that_work_in_place_do_not_reach_the_callers_data(images):
    model = nn.Sequential(nn.Dropout(0.5, inplace=True), nn.ReLU(inplace=True), nn.Flatten(), nn.Linear(64, 3))
    original = images.clone()
    first = predict_probs(model, images, 3, seed=0)
    assert torch.equal(images, original)
    plain = nn.Sequential(nn.Dropout(0.5), nn.ReLU(), nn.Flatten(), model[3])
    assert torch.equal(predict_probs(plain, images, 3, seed=0), first)


def test_trap_23_a_dropout_that_works_in_place_changes_its_input_for_later_layers():
    class ForgetsTheResult(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.drop = nn.Dropout(0.5, inplace=True)

        def forward(self, x):
            h = x + 0
            self.drop(h)
            return h

    probs = predict_probs(ForgetsTheResult(), torch.ones(2, 30), 2, seed=0)
    assert not torch.equal(probs[:, 0], probs[:, 1])


def test_trap_23_read_only_and_expanded_inputs(nested):
    expanded = torch.randn(1, 1, 8, 8).expand(4, 1, 8, 8)
    probs = predict_probs(nested, expanded, 2, seed=0)
    torch.testing.assert_close(probs, probs[:1].expand_as(probs), rtol=0, atol=1e-6)


def test_trap_23_the_default_is_evaluation_mode_for_everything_else(nested, images):
    nested.drop.p = nested.blocks[0][2][0].p = 0.0
    with torch.no_grad():
        expected = nested.eval()(images).softmax(1)
    nested.train()
    with pytest.warns(UserWarning, match="all draws are identical"):
        probs = predict_probs(nested, images, 2, seed=0)
    torch.testing.assert_close(probs[:, 0], expected, rtol=0, atol=1e-6)


def test_trap_23_batch_norm_without_statistics_is_warned_of(images):
    model = nn.Sequential(nn.BatchNorm2d(1, track_running_stats=False), nn.Flatten(), nn.Dropout(), nn.Linear(64, 3))
    with pytest.warns(UserWarning, match="'0' keeps no running statistics"):
        predict_probs(model, images, 2, seed=0)
