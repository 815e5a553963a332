"""A scoring that was killed behind any of its writes goes on, also where one block is written in pieces."""

import json

import pytest
import torch
from torch import nn

from infoacq.posteriors import _chunks, _npy, mc_dropout
from models.mnist_cnn import MNISTCNN

DRAWS = 7


class Kill(BaseException):
    """As a signal would: not caught by anybody."""


@pytest.fixture
def killed(monkeypatch, tmp_path):
    """Score to a file and die behind a write; how many candidates the file holds, or None if it was complete."""
    own, path = _npy.NpyFile.write, tmp_path / "p.npy"

    def score(model, pool, writes):
        left = iter(range(writes))

        def write(self, probs, checksum):
            own(self, probs, checksum)
            if next(left, None) is None:
                raise Kill

        monkeypatch.setattr(_npy.NpyFile, "write", write)
        try:
            mc_dropout.predict_probs(model, pool(), DRAWS, seed=0, out=path, progress=False)
        except Kill:
            return json.loads((tmp_path / "p.npy.json").read_text())["rows"]
        finally:
            monkeypatch.setattr(_npy.NpyFile, "write", own)
        return None

    return score


def of_two_sizes():
    rng = torch.Generator().manual_seed(0)
    for rows, side in ((600, 12), (40, 9), (300, 12)):
        yield from torch.randn(rows, 1, side, side, generator=rng).split(50)


def of_images():
    return torch.randn(300, 1, 28, 28, generator=torch.Generator().manual_seed(0))


def of_any_size():
    torch.manual_seed(0)
    convolution, behind = nn.Conv2d(1, 8, 3), nn.AdaptiveAvgPool2d(2)
    return nn.Sequential(convolution, nn.Dropout2d(), nn.ReLU(), behind, nn.Flatten(), nn.Linear(32, 3))


@pytest.mark.parametrize(("make", "pool"), [(MNISTCNN, of_images), (of_any_size, of_two_sizes)])
def test_it_goes_on_behind_every_write(make, pool, killed, monkeypatch, tmp_path):
    monkeypatch.setattr(_chunks, "_ENDS_BYTES", 64 * DRAWS * 128 * 4)  # pieces of 64 candidates
    model, held = make(), []
    while (rows := killed(model, pool, len(held))) is not None:
        held.append(rows)
        partial = tmp_path / "p.npy.partial"
        resumed = mc_dropout.predict_probs(model, pool(), DRAWS, seed=0, out=tmp_path / "p.npy", progress=False)
        expected = mc_dropout.predict_probs(model, pool(), DRAWS, seed=0, progress=False)
        torch.testing.assert_close(resumed, expected, rtol=0, atol=1e-6)
        assert not partial.exists()
        for path in tmp_path.iterdir():
            path.unlink()
    assert len(held) >= 3
    assert held == sorted(set(held))
    assert any(rows % 256 for rows in held[:-1])


def test_a_loader_may_fill_one_tensor_again_and_again(flat):
    pool, model = torch.randn(100, 6, generator=torch.Generator().manual_seed(0)), flat(nn.Dropout(0.5))

    def batches():
        room = torch.empty(10, 6)
        for part in pool.split(10):
            yield room.copy_(part)

    expected = mc_dropout.predict_probs(model, pool, 3, seed=0, progress=False)
    told = mc_dropout.predict_probs(model, batches(), 3, seed=0, progress=False)
    torch.testing.assert_close(told, expected, rtol=0, atol=0)
