"""What is given as predictions and is none: every error names what it is, where, and the way out."""

import re
from typing import Any

import numpy as np
import pytest

import infoacq
from infoacq import BALD, ExactJointEntropy, from_log_probs, from_logits, from_probs, select_batch
from tests.predictions import STANDARD, dirichlet

pytestmark = pytest.mark.usefixtures("untyped")
P = dirichlet(1, *STANDARD)
DOORS = [
    from_probs,
    infoacq.entropy,
    infoacq.expected_entropy,
    infoacq.mutual_information,
    lambda p: select_batch(p, BALD(), 1),
    ExactJointEntropy.empty(draws=4, like=P).conditional_entropy,
    ExactJointEntropy.empty(draws=4, like=P).sampled(3, np.random.default_rng(0)).conditional_entropy,
    ExactJointEntropy.empty(draws=4, like=P).sampled(3, np.random.default_rng(0)).information_error,
]


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ([[[0.5, 0.5]]], TypeError, r"must be an array from NumPy, PyTorch or JAX; got list.*numpy\.asarray"),
        (None, TypeError, r"must be an array .*; got NoneType"),
        (np.ones((6, 4, 3), dtype=int), TypeError, "must hold floating-point numbers; got int64. Labels are not pred"),
        (np.ones((6, 4, 3), dtype=bool), TypeError, "must hold floating-point numbers; got bool"),
        (P.astype(complex), TypeError, "must hold floating-point numbers; got complex128"),
        (P.astype(object), TypeError, "must hold floating-point numbers; got object"),
        (P.astype(np.longdouble), TypeError, "must be of float64, float32, float16, bfloat16; got .*Convert it first"),
        (P[:, 0], ValueError, r'got \(6, 3\)\. For one model add the axis: einops\.rearrange\(p, "n c -> n 1 c"\)'),
        (P[0, 0], ValueError, r"must have shape \(n, k, c\) = \(candidates, draws, classes\); got \(3,\)\."),
        (P[None], ValueError, r"must have shape \(n, k, c\) = .*; got \(1, 6, 4, 3\)\."),
        (P[:0], ValueError, r"got \(0, 4, 3\), which holds no candidates"),
        (-P, ValueError, "candidate 0, draw 0"),
        (P * 1.01, ValueError, "candidate 0, draw 0 sums to 1.01, not to 1 within 0.001"),
    ],
)
def test_every_door_refuses_it(door: Any, wrong: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        door(wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (P, "Append one candidate at a time: predictions[i]."),
        (
            P[0, :3],
            "must be under the same 4 draws as the points chosen so far; got 3 draws. Predict both under one set",
        ),
        (P[0] * 2, "draw 0 sums to 2, not to 1"),
        (P[0][:, :0], "which holds no classes"),
    ],
)
def test_what_cannot_be_appended(wrong: np.ndarray, message: str) -> None:
    joint, rng = ExactJointEntropy.empty(draws=4, like=P), np.random.default_rng(0)
    with pytest.raises(ValueError, match=re.escape(message)):
        joint.append(wrong)
    with pytest.raises(ValueError, match=re.escape(message)):
        joint.sampled(3, rng).append(wrong, rng)


def test_the_first_wrong_row_is_named_wherever_the_blocks_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    p = dirichlet(2, 100, 4, 3)
    p[[61, 90], 2] = 2.0
    for numbers in (1 << 18, 120, 7):
        monkeypatch.setattr("infoacq._arrays.HOST_BLOCK", numbers)
        with pytest.raises(ValueError, match="candidate 61, draw 2 sums to 6"):
            from_probs(p)


def test_rows_are_right_within_the_tolerance_of_their_dtype() -> None:
    for dtype, tolerance in (("float64", 1e-3), ("float32", 1e-3), ("float16", 1e-2)):
        row = np.array([[[0.5, 0.5 + 0.8 * tolerance]]], dtype=dtype)
        assert len(from_probs(row)) == 1
        with pytest.raises(ValueError, match=f"not to 1 within {tolerance:g}"):
            from_probs(np.array([[[0.5, 0.5 + 1.3 * tolerance]]], dtype=dtype))


@pytest.mark.parametrize(
    ("value", "shown"), [(np.nan, "is nan"), (np.inf, "is inf"), (0.5, "is 0.5")], ids=["nan", "inf", "positive"]
)
def test_log_probabilities_that_are_none(value: float, shown: str) -> None:
    logs = np.log(P)
    logs[3, 1, 2] = value
    with pytest.raises(
        ValueError, match=rf"log_probs must be log-probabilities .*; candidate 3, draw 1, class 2 {shown}"
    ):
        from_log_probs(logs)


@pytest.mark.parametrize(("row", "shown"), [([np.nan, 0, 0], "nan"), ([0, np.inf, 0], "inf"), ([-np.inf] * 3, "-inf")])
def test_logits_that_are_none(row: list[float], shown: str) -> None:
    logits = np.zeros(STANDARD)
    logits[2, 3] = row
    with pytest.raises(ValueError, match=rf"logits must be logits .*; candidate 2, draw 3, class \d is {shown}\."):
        from_logits(logits)


def test_logits_of_any_size_become_probabilities() -> None:
    logits = np.log(P) + np.linspace(-900, 900, 24).reshape(6, 4, 1)
    np.testing.assert_allclose(from_logits(logits).predictions, P, atol=1e-12)
    assert from_logits(np.array([[[1e308, 0.0]]])).predictions.tolist() == [[[1.0, 0.0]]]


@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        (np.full(3, 1 / 3), ValueError, "weights must be under the same 4 draws"),
        (np.full(4, 0.3), ValueError, "weights must be probabilities; the row sums to 1.2"),
        (np.array([1, 0, 0, 0]), TypeError, "weights must hold floating-point numbers; got int64"),
        (np.full((4, 1), 0.25), ValueError, r"weights must have shape \(k\) = \(draws\); got \(4, 1\)"),
    ],
)
def test_weights_of_draws(weights: np.ndarray, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        infoacq.expected_entropy(P, weights)


def test_predictions_are_neither_changed_nor_copied_when_they_are_wrong() -> None:
    p = P.copy()
    p[1, 1] = np.nan
    before = p.tobytes()
    with pytest.raises(ValueError, match="candidate 1, draw 1"):
        from_probs(p)
    assert p.tobytes() == before
