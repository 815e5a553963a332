"""What a file is told apart by, beside a model's weights."""

from functools import partial

import pytest
import torch
from torch import nn

from infoacq.posteriors import mc_dropout

predict_probs = partial(mc_dropout.predict_probs, progress=False)


@pytest.fixture
def pool():
    return torch.randn(40, 6, generator=torch.Generator().manual_seed(0))


class Settings(nn.Module):
    """What a state_dict does not hold: a setting, a buffer that is not persistent; and the mode, which is none."""

    def __init__(self, slope: float = 0.1, shift: float = 0.0, factor: float = 1.0) -> None:
        super().__init__()
        self.relu, self.factor = nn.LeakyReLU(slope), factor
        self.register_buffer("shift", torch.full((3,), shift), persistent=False)

    def forward(self, x):
        self.shape, self.calls = x.shape, getattr(self, "calls", 0) + 1  # notes of a forward are no settings
        return self.relu(self.factor * x) + self.shift


@pytest.mark.parametrize(
    ("change", "same"), [({"slope": 0.9}, False), ({"shift": 1.0}, False), ({"factor": 2.0}, False), ({}, True)]
)
def test_a_model_of_other_settings_does_not_go_on_with_the_file(flat, pool, tmp_path, change, same):
    first, second = (nn.Sequential(flat(nn.Dropout(0.5)), Settings(**it)) for it in ({}, change))
    whole = predict_probs(first, pool, 3, seed=0, out=tmp_path / "p.npy")
    second.eval()
    if same:
        assert torch.equal(predict_probs(first, pool, 3, seed=0, out=tmp_path / "p.npy"), whole)
        assert torch.equal(predict_probs(second, pool, 3, seed=0, out=tmp_path / "p.npy"), whole)
    else:
        with pytest.raises(ValueError, match="model_sha256"):
            predict_probs(second, pool, 3, seed=0, out=tmp_path / "p.npy")
