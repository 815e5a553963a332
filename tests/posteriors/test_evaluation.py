"""Where a model runs: itself if all of it is there, a copy if not."""

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from infoacq.posteriors import mc_dropout
from infoacq.posteriors._evaluation import on_device


def test_a_model_that_is_there_is_not_copied():
    model = nn.Linear(2, 3)
    for device in (None, "cpu", "cpu:0", torch.device("cpu")):
        assert on_device(model, device) is model


def test_a_device_without_a_number_is_the_one_that_tensors_made_for_it_are_on():
    with FakeTensorMode():  # tensors of a card that need not be there
        model = nn.Linear(2, 3, device="cuda")
        assert model.weight.device == torch.device("cuda:0")
        assert on_device(model, "cuda") is model
        assert on_device(model, "cuda:0") is model


@pytest.mark.parametrize("lagging", [nn.Linear(3, 3), nn.BatchNorm1d(3, affine=False)], ids=["a parameter", "a buffer"])
def test_all_of_a_model_has_to_be_there(lagging):
    model = nn.Sequential(nn.Linear(2, 3, device="meta"), lagging)
    there = on_device(model, "meta")
    assert there is not model
    assert {tensor.device.type for tensor in there.state_dict().values()} == {"meta"}
    assert {tensor.device.type for tensor in lagging.state_dict().values()} == {"cpu"}


class Remembering(nn.Module):
    """Keeps its last activation with the graph behind it."""

    def __init__(self):
        super().__init__()
        self.layer, self.drop = nn.Linear(2, 3), nn.Dropout(0.5)

    def forward(self, x):
        self.last = self.layer(x)
        return self.drop(self.last)


def test_a_model_that_cannot_be_copied_has_to_be_moved_by_its_owner():
    model = Remembering()
    model(torch.zeros(1, 2))
    with pytest.raises(RuntimeError, match=r"Remembering is not on meta, and no copy .*model\.to\('meta'\), and leave"):
        mc_dropout.predict_probs(model, torch.zeros(4, 2), 2, seed=0, device="meta", progress=False)
    assert on_device(model, "cpu") is model
