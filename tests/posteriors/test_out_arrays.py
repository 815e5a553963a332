"""Where the result goes: arrays of the caller's."""

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


def test_the_callers_tensor_array_and_memory_map(model, pool, tmp_path):
    expected = predict_probs(model, pool, 3, seed=0)
    tensor = torch.zeros(ROWS, 3, 3)
    assert predict_probs(model, pool, 3, seed=0, out=tensor) is tensor
    assert torch.equal(tensor, expected)
    double = np.zeros((ROWS, 3, 3))
    predict_probs(model, pool, 3, seed=0, out=double)
    np.testing.assert_array_equal(double, expected.double().numpy())
    mapped = np.lib.format.open_memmap(tmp_path / "m.npy", "w+", np.float16, (ROWS, 3, 3))
    returned = predict_probs(model, DataLoader(pool, batch_size=64), 3, seed=0, out=mapped)
    assert returned.data_ptr() == mapped.ctypes.data
    np.testing.assert_array_equal(np.load(tmp_path / "m.npy"), expected.half().numpy())


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (torch.zeros(ROWS, 4, 3), r"got \(1400, 4, 3\)"),
        (torch.zeros(ROWS - 1, 3, 3), r"must have shape \(1400, 3, c\)"),
        (torch.zeros(ROWS, 3), "must have shape"),
        (torch.zeros(ROWS, 3, 3, dtype=torch.int64), "floating dtype is wanted"),
        (torch.zeros(ROWS, 3, 4), "3 draws and 3 classes"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_and_not_written(model, pool, out, message):
    with pytest.raises(ValueError, match=message):
        predict_probs(model, pool, 3, seed=0, out=out)
    assert not out.any()


def test_read_only_arrays_and_unknown_sizes(model, pool):
    array = np.zeros((ROWS, 3, 3), dtype=np.float32)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        predict_probs(model, pool, 3, seed=0, out=array)
    for rows, message in ((ROWS + 1, "room for 1401 candidates; the pool has 1400"), (ROWS - 1, "1400 candidates or")):
        with pytest.raises(ValueError, match=message):
            predict_probs(model, iter(pool.split(100)), 3, seed=0, out=torch.zeros(rows, 3, 3))


def test_half_precision_on_request(model, pool):
    expected = predict_probs(model, pool, 3, seed=0)
    half = predict_probs(model, pool, 3, seed=0, dtype=torch.float16)
    assert half.dtype == torch.float16
    assert torch.equal(half, expected.half())
    with pytest.raises(TypeError, match="floating dtype of torch"):
        predict_probs(model, pool, 3, seed=0, dtype=torch.int8)
    with pytest.raises(ValueError, match=r"out is of torch.float32; torch.float16"):
        predict_probs(model, pool, 3, seed=0, dtype=torch.float16, out=torch.zeros(ROWS, 3, 3))
