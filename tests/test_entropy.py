"""Entropies of single candidates: each against plain loops, on every backend and dtype."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

import infoacq
from tests import oracles
from tests.backends import Backend, numpy
from tests.predictions import STANDARD, dirichlet, dyadic, pools

BOTH = [
    (infoacq.entropy, oracles.predictive_entropy),
    (infoacq.expected_entropy, oracles.expected_entropy),
    (infoacq.mutual_information, oracles.bald),
]


@pytest.mark.parametrize(("function", "oracle"), BOTH)
def test_entropies_are_those_of_the_loops(xp: Backend, function: Callable, oracle: Callable) -> None:
    p = dyadic(3, *STANDARD)
    np.testing.assert_allclose(numpy(function(xp.array(p))), list(map(oracle, p.tolist())), atol=xp.tolerance)


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 3), (7, 1, 4), (6, 3, 1), (300, 40, 30)])
@pytest.mark.parametrize(("function", "oracle"), BOTH)
def test_entropies_of_other_shapes(shape: tuple[int, int, int], function: Callable, oracle: Callable) -> None:
    p = dirichlet(3, *shape)
    np.testing.assert_allclose(function(p), list(map(oracle, p.tolist())), atol=1e-12)


def test_results_stay_with_their_maker_in_the_computing_dtype(xp: Backend) -> None:
    p = xp.array(dyadic(1, *STANDARD))
    result = infoacq.mutual_information(p)
    assert type(result) is type(p)
    assert str(result.dtype).endswith("float64" if xp.dtype == "float64" else "float32")


def test_draws_may_have_weights(xp: Backend) -> None:
    p, weights = dyadic(2, *STANDARD), np.array([0.5, 0.25, 0.25, 0.0])
    got = infoacq.expected_entropy(xp.array(p), xp.array(weights))
    wanted = [math.fsum(w * oracles.entropy(row) for w, row in zip(weights, point, strict=True)) for point in p]
    np.testing.assert_allclose(numpy(got), wanted, atol=xp.tolerance)


@given(pools())
def test_information_is_the_difference_and_within_its_bounds(p: np.ndarray) -> None:
    information = infoacq.mutual_information(p)
    difference = infoacq.entropy(p) - infoacq.expected_entropy(p)
    np.testing.assert_allclose(information, difference, atol=1e-12)
    np.testing.assert_allclose(information, [oracles.bald(point) for point in p.tolist()], atol=1e-12)
    assert (information >= 0).all()
    assert (information <= min(math.log(p.shape[1]), math.log(p.shape[2])) + 1e-12).all()


def test_relabelled_draws_and_classes_change_nothing() -> None:
    p = dirichlet(5, 6, 7, 4)
    again = p[:, ::-1, :][:, :, [2, 0, 3, 1]]
    for function in (infoacq.entropy, infoacq.expected_entropy, infoacq.mutual_information):
        np.testing.assert_allclose(function(again), function(p), atol=1e-12)
