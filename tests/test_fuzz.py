"""Whatever array is given: the right numbers, or an error of the door; never a crash, a warning or a write."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

import infoacq
from infoacq import BatchBALD, Greedy, from_log_probs, from_logits, from_probs, select_batch
from tests import oracles

pytestmark = [pytest.mark.usefixtures("untyped"), pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")]
FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
DTYPES = st.sampled_from(
    ["float64", "float32", "float16", "int64", "bool", ">f4", "complex64", "U1", "object", "M8[s]"]
)
ODD = [0.0, -0.0, 1.0, 0.5, 5e-324, 1e-45, 1e-310, 6e-8, -1.0, 1e300, np.inf, -np.inf, np.nan]


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Any array: of any kind, shape and strides, with every odd number that a float can be."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=0, max_size=4)))
    numbers = draw(st_numpy.arrays(np.float64, shape, elements=st.sampled_from(ODD)))
    if draw(st.booleans()) and numbers.ndim and numbers.shape[-1]:
        with np.errstate(all="ignore"):
            numbers = numbers / numbers.sum(axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        try:
            array = numbers.astype(draw(DTYPES))
        except (ValueError, OverflowError):
            array = numbers
    return np.asarray(array[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)])


@st.composite
def probabilities(draw: st.DrawFn) -> np.ndarray:
    """Probabilities (n, k, c) in a floating dtype, of zeros, subnormals and ordinary numbers, in any strides."""
    shape = tuple(draw(st.integers(1, most)) for most in (4, 3, 3))
    numbers = draw(
        st_numpy.arrays(np.float64, shape, elements=st.sampled_from([0.0, -0.0, 5e-324, 1e-310, 1e-45, 0.3, 1]))
    )
    numbers[..., 0] += 1.0 - numbers.sum(axis=-1)
    numbers = np.abs(numbers) / np.abs(numbers).sum(axis=-1, keepdims=True)
    array = numbers.astype(draw(st.sampled_from(["float64", "float32", "float16", ">f8"])))
    array[array == 0] = draw(st.sampled_from([0.0, -0.0]))
    return array[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)]


@FUZZ
@given(arrays())
def test_any_array_is_taken_or_refused(array: np.ndarray) -> None:
    before = array.tobytes()
    for door in (from_probs, from_log_probs, from_logits, infoacq.mutual_information):
        try:
            result = door(array)
        except (TypeError, ValueError) as raised:
            error = raised
        else:
            error = None
        if error:
            assert "must" in str(error), "an error of the library's own"
            continue
        assert array.ndim == 3
        if door is not infoacq.mutual_information:
            assert np.isfinite(infoacq.entropy(result.take(np.arange(len(result))).predictions)).all()
    assert array.tobytes() == before


@FUZZ
@given(probabilities())
def test_any_probabilities_give_the_right_sums(p: np.ndarray) -> None:
    before, points = p.tobytes(), p.astype(np.float64).tolist()
    # Rows of half precision miss one by its rounding, and so does what the joint makes of them.
    rounding = {"float64": 1e-9, "float32": 2e-6, "float16": 4e-3}[p.dtype.name]
    np.testing.assert_allclose(infoacq.mutual_information(p), [oracles.bald(x) for x in points], atol=rounding)
    np.testing.assert_allclose(infoacq.entropy(p), [oracles.predictive_entropy(x) for x in points], atol=rounding)
    selection = select_batch(p, BatchBALD(), len(p), maximiser=Greedy())
    assert sorted(selection.indices) == list(range(len(p)))
    score = oracles.batchbald([points[i] for i in selection.indices])
    assert selection.scores[-1] == pytest.approx(score, abs=len(p) * rounding)
    assert all(0 <= s <= math.log(p.shape[1]) + 1e-12 for s in selection.scores)
    assert p.tobytes() == before
