"""Models that are wrapped for several devices: scored as the module inside, on one."""

import logging

import pytest
import torch
from torch import distributed, nn

from infoacq.posteriors import mc_dropout
from infoacq.posteriors._compiled import as_written
from tests.posteriors.naive import naive_probs


@pytest.fixture
def alone():
    """A group of one process."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def by_replicas(wrapper, x):
    """What nn.DataParallel does on two cards, seen from the hooks of the model's layers."""
    return torch.cat([wrapper.module(part) for part in x.chunk(2)])


def test_masks_are_those_of_the_module_for_all_rows(flat, caplog, monkeypatch):
    model, x = flat(nn.Dropout(0.5)), torch.randn(30, 6)
    monkeypatch.setattr(nn.DataParallel, "forward", by_replicas)
    with caplog.at_level(logging.DEBUG, "infoacq.posteriors"):
        plain = mc_dropout.predict_probs(model, x, 7, seed=3, progress=False)
        wrapped = mc_dropout.predict_probs(nn.DataParallel(model), x, 7, seed=3, progress=False)
    torch.testing.assert_close(wrapped, naive_probs(model, x, 7, 3), rtol=0, atol=1e-6)
    assert torch.equal(wrapped, plain)
    assert "no draws by" not in caplog.text


def test_a_file_goes_on_with_the_module_alone(flat, tmp_path):
    model, x, out = flat(nn.Dropout(0.5)), torch.randn(30, 6), tmp_path / "pool.npy"
    mc_dropout.predict_probs(nn.DataParallel(model), x, 7, seed=3, out=out, progress=False)
    mc_dropout.predict_probs(model, x, 7, seed=3, out=out, progress=False)  # of another model it would be refused


@pytest.mark.parametrize(
    ("inner", "outer"), [(nn.DataParallel, torch.compile), (torch.compile, nn.DataParallel)], ids=["in", "around"]
)
def test_a_wrapper_in_and_around_a_compiled_model(flat, inner, outer):
    model = flat(nn.Dropout(0.5))
    assert as_written(outer(inner(model))) is model


def test_a_distributed_model_is_its_module(flat, alone):
    model = flat(nn.Dropout(0.5))
    assert as_written(nn.parallel.DistributedDataParallel(model)) is model


def test_a_wrapper_that_does_more_is_kept(flat):
    class Scaling(nn.DataParallel):
        def forward(self, x):
            return 2.0 * self.module(x)

    hooked = nn.DataParallel(flat(nn.Dropout(0.5)))
    hooked.register_forward_hook(lambda module, args, output: 2.0 * output)
    for wrapper in (Scaling(flat(nn.Dropout(0.5))), hooked):
        assert as_written(wrapper) is wrapper
