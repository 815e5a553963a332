"""Predictions into a Zarr array: by one call, part by part, stopped and gone on with."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader

from infoacq import BALD, select_batch
from infoacq.posteriors import ensemble, mc_dropout, zarr_rows

zarr = pytest.importorskip("zarr", reason="Zarr is not installed: pip install 'infoacq[zarr]'")
predict_probs = partial(mc_dropout.predict_probs, draws=4, seed=0, progress=False)
ROWS, CHUNK = 1400, 300


@pytest.fixture
def model(flat):
    return flat(nn.Dropout(0.5))


@pytest.fixture
def pool():
    return torch.randn(ROWS, 6, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def array(model, pool, tmp_path):
    classes = predict_probs(model, pool[:1]).shape[2]
    return zarr_rows.create(tmp_path / "p.zarr", ROWS, 4, classes, chunk=CHUNK, dtype="float32")


class Kill(BaseException):
    """As a signal would: not caught by anybody."""


def stopped_after(pool, rows):
    yield from pool[:rows].split(100)
    raise Kill


@pytest.mark.parametrize("source", ["tensor", "loader"])
def test_a_store_holds_what_memory_would_and_is_a_pool(model, pool, array, source):
    inputs = pool if source == "tensor" else DataLoader(pool, batch_size=33)
    returned = predict_probs(model, inputs, out=array)
    expected = predict_probs(model, pool)
    np.testing.assert_allclose(returned[:], expected.numpy(), atol=1e-6)
    zarr_rows.check_complete(array)
    assert select_batch(array, BALD(), 5).indices == select_batch(expected, BALD(), 5).indices


@pytest.mark.parametrize("workers", [1, 2, 3, 7])
def test_workers_write_parts_under_the_same_draws(model, pool, array, workers):
    parts = [zarr_rows.rows_of(array, worker, workers) for worker in range(workers)]
    assert [i for rows in parts for i in range(rows.start, rows.stop)] == list(range(ROWS))
    for rows in reversed([rows for rows in parts if rows.start < rows.stop]):
        with pytest.raises(ValueError, match="candidates are not written"):
            zarr_rows.check_complete(array)
        predict_probs(model, pool[rows], out=zarr_rows.Part(array, rows.start, rows.stop))
    for rows in parts:  # again, those that had nothing to do among them
        predict_probs(model, pool[rows], out=zarr_rows.Part(array, rows.start, rows.stop))
    zarr_rows.check_complete(array)
    np.testing.assert_allclose(array[:], predict_probs(model, pool).numpy(), atol=1e-6)


class Counting(nn.Linear):
    """A first layer that counts the candidates it sees."""

    seen = 0

    def forward(self, x):
        type(self).seen += len(x)
        return super().forward(x)


def test_it_goes_on_where_it_stopped(flat, pool, array):
    model = nn.Sequential(Counting(6, 6), flat(nn.Dropout(0.5)))
    with pytest.raises(Kill):
        predict_probs(model, stopped_after(pool, 900), out=array)
    assert [(r.start, r.stop) for r in zarr_rows.missing(array)] == [(600, 900), (900, 1200), (1200, 1400)]
    with pytest.raises(ValueError, match=r"800 of the 1400 candidates are not written: 600 … 899, 900 … 1199"):
        zarr_rows.check_complete(array)
    whole = predict_probs(model, pool).numpy()
    before = Counting.seen
    predict_probs(model, pool, out=array)
    assert 800 <= Counting.seen - before <= 800 + 3 * (4 * 8 + 2)  # and a few looks at the first ones of each chunk
    np.testing.assert_allclose(array[:], whole, atol=1e-6)
    before = Counting.seen
    predict_probs(model, pool, out=array)
    assert Counting.seen == before


def test_another_call_or_other_inputs_do_not_go_on_with_it(model, flat, pool, array):
    with pytest.raises(Kill):
        predict_probs(model, stopped_after(pool, 900), out=array)
    before = array[:]
    for change, message in (
        ({"seed": 1}, "begun with seed = 0, this call has 1"),
        ({"model": flat(nn.Dropout(0.4))}, "begun with model_sha256"),
        ({"output": "log_probs"}, "begun with output"),
        ({"loader_or_tensor": pool.flip(0)}, "0 … 299 of out were predicted from other inputs"),
        ({"loader_or_tensor": pool[:600]}, "the pool has fewer"),
        ({"loader_or_tensor": torch.cat([pool, pool[:9]])}, "the pool has more"),
        ({"consistent": False}, "consistent=False"),
        ({"dtype": torch.float16}, "dtype is that of the Zarr array"),
    ):
        call = {"model": model, "loader_or_tensor": pool, "out": array} | change
        if change.get("loader_or_tensor") is not None and len(change["loader_or_tensor"]) > ROWS:
            continue  # it writes the rest first: below
        with pytest.raises(ValueError, match=message):
            predict_probs(**call)
    np.testing.assert_array_equal(array[:], before)
    with pytest.raises(ValueError, match="the pool has more"):
        predict_probs(model, torch.cat([pool, pool[:9]]), out=array)


def test_a_call_that_failed_before_it_wrote_does_not_bind_the_next(model, pool, array):
    with pytest.raises(ValueError, match="Pass output='probs'"):
        predict_probs(nn.Sequential(model, nn.Softmax(1)), pool, out=array)
    predict_probs(nn.Sequential(model, nn.Softmax(1)), pool, out=array, output="probs")
    np.testing.assert_allclose(array[:], predict_probs(model, pool).numpy(), atol=1e-6)


def test_an_ensemble_refuses_a_dtype_beside_an_array(model, pool, array):
    with pytest.raises(ValueError, match="dtype is that of the Zarr array"):
        ensemble.predict_probs([model] * 4, pool, out=array, dtype=torch.float16, progress=False)


def test_parts_are_whole_chunks_of_an_array_with_a_record(model, pool, array, tmp_path):
    for start, stop in ((0, 299), (1, 600), (900, 600), (1200, 1401), (-300, 300)):
        with pytest.raises(ValueError, match="must be whole chunks of 300"):
            zarr_rows.Part(array, start, stop)
    bare = zarr.create_array(tmp_path / "bare.zarr", shape=(ROWS, 4, 3), chunks=(300, 4, 3), dtype="float32")
    with pytest.raises(ValueError, match="has no record of what is written"):
        predict_probs(model, pool, out=bare)
    for taken in ("p.zarr", "bare.zarr"):
        with pytest.raises(FileExistsError, match=f"{taken} is in use already"):
            zarr_rows.create(tmp_path / taken, ROWS, 4, 3)
    with pytest.raises(ValueError, match="chunk must be at least 1; got 0"):
        zarr_rows.create(tmp_path / "new.zarr", ROWS, 4, 3, chunk=0)
    with pytest.raises(ValueError, match="dtype must be a floating one"):
        zarr_rows.create(tmp_path / "new.zarr", ROWS, 4, 3, dtype="int32")
    assert not (tmp_path / "new.zarr").exists()
    for worker in (-1, 2):
        with pytest.raises(ValueError, match=rf"one of 0 … 1; got {worker}"):
            zarr_rows.rows_of(array, worker, 2)
    wide = zarr_rows.create(tmp_path / "wide.zarr", ROWS, 4, 9)
    with pytest.raises(ValueError, match="out is for draws and classes"):
        predict_probs(model, pool, out=wide)
    assert zarr_rows.missing(wide) == [slice(0, ROWS)]


def test_members_of_an_ensemble(pool, tmp_path):
    members = [nn.Linear(6, 3), nn.Linear(6, 3)]
    expected = ensemble.predict_probs(members, pool, progress=False)
    array = zarr_rows.create(tmp_path / "e.zarr", ROWS, 2, expected.shape[2], chunk=CHUNK, dtype="float32")
    ensemble.predict_probs(members, pool, progress=False, out=array)
    np.testing.assert_allclose(array[:], expected.numpy(), atol=1e-6)
