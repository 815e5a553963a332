"""Files that an interrupted call goes on with."""

import json
import weakref
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from infoacq.posteriors import mc_dropout

predict_probs = partial(mc_dropout.predict_probs, progress=False)
ROWS = 1400  # three chunks


@pytest.fixture
def model(flat):
    return flat(nn.Dropout(0.5))


@pytest.fixture
def pool():
    return torch.randn(ROWS, 6, generator=torch.Generator().manual_seed(0))


class Kill(BaseException):
    """As a signal would: not caught by anybody."""


def killed_after(pool, rows):
    for part in pool.split(100):
        if rows <= 0:
            raise Kill
        rows -= len(part)
        yield part


@pytest.mark.parametrize("source", ["tensor", "loader", "generator"])
@pytest.mark.parametrize("dtype", [None, torch.float16])
def test_a_file_holds_what_memory_would(model, pool, tmp_path, source, dtype):
    pools = {"tensor": pool, "loader": DataLoader(pool, batch_size=33), "generator": iter(pool.split(50))}
    expected = predict_probs(model, pool, 3, seed=0, dtype=dtype)
    returned = predict_probs(model, pools[source], 3, seed=0, dtype=dtype, out=tmp_path / "p.npy")
    torch.testing.assert_close(returned, expected, rtol=0, atol=1e-6 if dtype is None else 1e-3)
    np.testing.assert_array_equal(np.load(tmp_path / "p.npy"), returned.numpy())
    returned[0] = 7.0
    assert float(np.load(tmp_path / "p.npy").max()) <= 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.npy", "p.npy.json"]


class Counting(nn.Linear):
    """A first layer that counts the candidates it sees; it is before the dropout, so it sees each of them once."""

    seen = 0

    def forward(self, x):
        type(self).seen += len(x)
        return super().forward(x)


@pytest.mark.parametrize("consistent", [True, False])
def test_a_killed_scoring_goes_on_and_equals_one_that_was_not(flat, pool, tmp_path, consistent):
    model = nn.Sequential(Counting(6, 6), flat(nn.Dropout(0.5)))
    predict = partial(predict_probs, model, draws=3, seed=0, consistent=consistent)
    whole = predict(pool.split(100), out=tmp_path / "whole.npy")
    path = tmp_path / "p.npy"
    for rows in (0, 300, 900, 1200):
        with pytest.raises(Kill):
            predict(killed_after(pool, rows), out=path)
        assert not path.exists()
    done = json.loads((tmp_path / "p.npy.json").read_text())["rows"]
    assert 512 <= done < ROWS
    before = Counting.seen
    assert torch.equal(predict(pool.split(100), out=str(path)), whole)
    assert Counting.seen - before <= ROWS - done + 50  # and a few looks at the first ones
    before = Counting.seen
    assert torch.equal(predict(pool.split(100), out=path), whole)
    assert Counting.seen == before  # complete: read again, nothing computed


def test_another_call_does_not_go_on_with_the_file(model, flat, pool, tmp_path):
    path = tmp_path / "p.npy"
    predict_probs(model, pool, 3, seed=0, out=path)
    before = path.read_bytes()
    for change, message in (
        ({"seed": 1}, "seed = 0, this call has 1"),
        ({"draws": 4}, "draws = 3, this call has 4"),
        ({"consistent": False}, "consistent = True"),
        ({"dtype": torch.float16}, "dtype = 'as computed', this call has 'float16'"),
        ({"output": "log_probs"}, "output = 'logits'"),
        ({"model": flat(nn.Dropout(0.4))}, "model_sha256"),
        ({"loader_or_tensor": pool.flip(0)}, "does not begin with the 1400 candidates"),
        ({"loader_or_tensor": pool[:700]}, "does not begin with the 1400 candidates"),
    ):
        call = {"model": model, "loader_or_tensor": pool, "draws": 3, "seed": 0, "out": path} | change
        with pytest.raises(ValueError, match=message):
            predict_probs(**call)
    assert path.read_bytes() == before


def test_a_finished_file_grows_with_the_pool(model, pool, tmp_path):
    path = tmp_path / "p.npy"
    predict_probs(model, pool[:900], 3, seed=0, out=path)
    grown = predict_probs(model, pool, 3, seed=0, out=path)
    torch.testing.assert_close(grown, predict_probs(model, pool, 3, seed=0), rtol=0, atol=1e-6)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["p.npy", "p.npy.json"]
    predict_probs(model, pool[:900], 3, seed=0, consistent=False, out=tmp_path / "own.npy")
    with pytest.raises(ValueError, match=r"complete with 900 candidates.*choose another out"):
        predict_probs(model, pool, 3, seed=0, consistent=False, out=tmp_path / "own.npy")
    assert len(np.load(tmp_path / "own.npy")) == 900


def test_a_shuffled_loader_does_not_go_on_silently(model, pool, tmp_path):
    with pytest.raises(Kill):
        predict_probs(model, killed_after(pool, 900), 3, seed=0, out=tmp_path / "p.npy")
    loader = DataLoader(pool, batch_size=100, shuffle=True)
    with pytest.raises(ValueError, match="no shuffling"):
        predict_probs(model, loader, 3, seed=0, out=tmp_path / "p.npy")


def test_files_that_are_somebody_elses_or_nowhere_are_refused(model, pool, tmp_path):
    (tmp_path / "p.npy").write_bytes(b"precious")
    with pytest.raises(FileExistsError, match="remove it, or choose another out"):
        predict_probs(model, pool, 3, seed=0, out=tmp_path / "p.npy")
    assert (tmp_path / "p.npy").read_bytes() == b"precious"
    with pytest.raises(FileNotFoundError, match="Make it first"):
        predict_probs(model, pool, 3, seed=0, out=tmp_path / "no" / "p.npy")
    with pytest.raises(ValueError, match=r"must be a \.npy file"):
        predict_probs(model, pool, 3, seed=0, out=tmp_path / "p.pt")
    with pytest.raises(ValueError, match="cannot hold bfloat16"):
        predict_probs(model, pool, 3, seed=0, out=tmp_path / "q.npy", dtype=torch.bfloat16)


def test_bad_input_leaves_no_file(flat, pool, tmp_path):
    with pytest.raises(ValueError, match="no dropout layer"):
        predict_probs(flat(), pool, 3, seed=0, out=tmp_path / "p.npy")
    pool[3] = torch.nan
    with pytest.raises(ValueError, match="candidate 3"):
        predict_probs(flat(nn.Dropout(0.5)), pool, 3, seed=0, out=tmp_path / "p.npy")
    assert not list(tmp_path.iterdir())


def test_a_partial_file_that_was_cut_short_is_noticed(model, pool, tmp_path):
    with pytest.raises(Kill):
        predict_probs(model, killed_after(pool, 900), 3, seed=0, out=tmp_path / "p.npy")
    partial_file = tmp_path / "p.npy.partial"
    partial_file.write_bytes(partial_file.read_bytes()[:-50])
    with pytest.raises(ValueError, match="is shorter than"):
        predict_probs(model, pool, 3, seed=0, out=tmp_path / "p.npy")


def test_the_bar_begins_where_the_file_ends(model, pool, tmp_path, capfd):
    with pytest.raises(Kill):
        predict_probs(model, killed_after(pool, 900), 3, seed=0, out=tmp_path / "p.npy")
    mc_dropout.predict_probs(model, pool, 3, seed=0, out=tmp_path / "p.npy")
    assert "1400/1400" in capfd.readouterr().err


@pytest.mark.parametrize("rows", [3_000, 12_000])
def test_no_more_of_the_pool_is_held_when_it_is_larger(model, tmp_path, rows):
    alive: list[weakref.ref] = []
    most = 0

    def batches():
        nonlocal most
        for _ in range(0, rows, 100):
            batch = torch.randn(100, 6)
            alive.append(weakref.ref(batch))
            most = max(most, sum(ref() is not None for ref in alive))
            yield batch

    predict_probs(model, batches(), 2, seed=0, out=tmp_path / "p.npy")
    assert most <= 8  # a chunk of 512 candidates and what is being read
