"""Vectors inside compiled functions: they compute what NumPy does."""

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from infoacq.posteriors import _vectors
from infoacq.posteriors._vectors import BYTES, larger, load, repeated, store, zeros_like


@njit
def compute(x, y, out):
    """Eight vectors from those that begin with the second number of x and of y."""
    a, b, step = load(x, 1), load(y, 1), BYTES // x.itemsize
    store(out, 0, a + b)
    store(out, step, a - b)
    store(out, 2 * step, a * b)
    store(out, 3 * step, 3 * a)
    store(out, 4 * step, repeated(x, 2))
    store(out, 5 * step, zeros_like(x))
    store(out, 6 * step, larger(a, b))
    store(out, 7 * step, a + repeated(y, 0) * b)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_they_compute_what_numpy_does(dtype):
    size = BYTES // np.dtype(dtype).itemsize
    x, y = np.random.default_rng(0).normal(size=(2, 2, size)).astype(dtype)  # of two axes: places count through both
    out = np.full((9, size), 7, dtype)
    compute(x, y, out)
    a, b = (each.ravel()[1 : size + 1] for each in (x, y))
    nothing, third = np.zeros(size), np.full(size, x[0, 2])
    expected = [a + b, a - b, a * b, 3 * a, third, nothing, np.maximum(a, b), a + y[0, 0] * b, np.full(size, 7)]
    np.testing.assert_allclose(out, expected, rtol=0, atol=4 * np.finfo(dtype).eps)


def test_of_a_pair_in_which_one_is_no_number_the_second_is_taken():
    x, y, out = np.zeros(32), np.ones(32), np.empty(64)
    x[1], y[2] = np.nan, np.nan
    compute(x, y, out)
    np.testing.assert_array_equal(out[48:51], [1.0, np.nan, 1.0])


def test_an_array_with_gaps_is_refused():
    with pytest.raises(TypingError, match=r"without gaps; got array\(float64, 1d, A\)"):
        compute(np.zeros((32, 2))[:, 0], np.zeros(32), np.zeros(64))


def test_without_a_folder_to_keep_it_in_a_function_is_compiled_all_the_same(monkeypatch):
    asked = []

    def njit(*, cache=False, **how):
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function 'double': no locator available")
        return before(**how)

    before = _vectors.njit
    monkeypatch.setattr(_vectors, "njit", njit)

    def double(x):
        return 2 * x

    assert _vectors.compiled(double)(3) == 6
    assert asked == [True, False]
