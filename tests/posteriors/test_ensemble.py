"""Draws from a list of networks, compared with each network alone."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from infoacq.posteriors import ensemble

predict_probs = partial(ensemble.predict_probs, progress=False)


@pytest.fixture
def members():
    torch.manual_seed(0)
    nets = [
        nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3)),
        nn.Sequential(nn.Linear(5, 3)),
        nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3)),
    ]
    nets[0].train()
    return nets


@pytest.fixture
def pool():
    return torch.randn(600, 5, generator=torch.Generator().manual_seed(1))


def test_each_draw_is_a_member_in_evaluation_mode(members, pool):
    random, flags = torch.get_rng_state(), [m.training for net in members for m in net.modules()]
    state = {name: value.clone() for name, value in members[0].state_dict().items()}
    probs = predict_probs(members, DataLoader(TensorDataset(pool), batch_size=64))
    assert torch.equal(torch.get_rng_state(), random)
    assert [m.training for net in members for m in net.modules()] == flags
    assert all(torch.equal(value, state[name]) for name, value in members[0].state_dict().items())
    assert probs.shape == (600, 3, 3)
    assert not probs.requires_grad
    for j, net in enumerate(members):
        torch.testing.assert_close(probs[:, j], net.eval()(pool).softmax(1).detach(), rtol=0, atol=1e-6)


def test_files_and_half_precision(members, pool, tmp_path):
    expected = predict_probs(members, pool)
    half = predict_probs(members, pool, out=tmp_path / "e.npy", dtype=torch.float16)
    assert torch.equal(half, expected.half())
    np.testing.assert_array_equal(np.load(tmp_path / "e.npy"), half.numpy())
    assert torch.equal(predict_probs(members, pool, out=tmp_path / "e.npy", dtype=torch.float16), half)
    with pytest.raises(ValueError, match="members = 3, this call has 2"):
        predict_probs(members[:2], pool, out=tmp_path / "e.npy", dtype=torch.float16)
    with pytest.raises(ValueError, match="members_sha256"):
        predict_probs(members[::-1], pool, out=tmp_path / "e.npy", dtype=torch.float16)


def test_bad_members_are_refused(members, pool):
    with pytest.raises(ValueError, match="members is empty"):
        predict_probs([], pool)
    with pytest.raises(ValueError, match=r"same classes; got \[3, 4\]"):
        predict_probs([*members, nn.Linear(5, 4)], pool)
    with pytest.raises(ValueError, match="Pass output='probs'"):
        predict_probs([nn.Sequential(net, nn.Softmax(1)) for net in members], pool)
    with pytest.raises(ValueError, match="pool is empty"):
        predict_probs(members, pool[:0])


def test_members_that_agree_exactly_are_warned_of(members, pool):
    with pytest.warns(UserWarning, match="all draws are identical"):
        predict_probs([members[1], members[1]], pool)


def test_one_member_is_a_draw_too(members, pool):
    assert predict_probs(members[1:2], pool).shape == (600, 1, 3)


def test_members_that_work_in_place_do_not_reach_the_callers_data_nor_each_other(pool):
    torch.manual_seed(0)
    changing, plain = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(5, 3)), nn.Linear(5, 3)
    before = pool.clone()
    probs = predict_probs([changing, plain], pool)
    assert torch.equal(pool, before)
    torch.testing.assert_close(probs[:, 1], plain(pool).softmax(1).detach(), rtol=0, atol=1e-6)
