"""Every other argument that may be wrong: the error says what was given, what is wanted and the way out."""

from typing import Any

import numpy as np
import pytest

from infoacq import (
    BALD,
    BatchBALD,
    ExactJointEntropy,
    Greedy,
    LazyGreedy,
    PredictiveEntropy,
    TopK,
    from_probs,
    select_batch,
)
from infoacq.objectives.joint_predictive_entropy import JointPredictiveEntropy
from tests.predictions import STANDARD, dirichlet

pytestmark = pytest.mark.usefixtures("untyped")
P = dirichlet(1, *STANDARD)


@pytest.mark.parametrize("value", [2.0, "2", None, True, np.float64(2), np.array([2])])
def test_a_batch_size_that_is_no_whole_number(value: Any) -> None:
    with pytest.raises(TypeError, match="batch_size must be a whole number; got "):
        select_batch(P, BALD(), value)


def test_a_batch_size_may_be_a_whole_number_of_numpys() -> None:
    assert len(select_batch(P, BALD(), np.int32(2))) == 2


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda n: LazyGreedy(first=n), "first"),
        (lambda n: ExactJointEntropy.empty(draws=n, like=P), "draws"),
        (lambda n: from_probs(P).with_shards_of(n), "shard_size"),
    ],
)
def test_counts_are_whole_numbers_of_at_least_one(make: Any, name: str) -> None:
    for value in (0, -5):
        with pytest.raises(ValueError, match=f"{name} must be at least 1; got {value}"):
            make(value)
    for value in (1.5, "1", True):
        with pytest.raises(TypeError, match=f"{name} must be a whole number; got {value!r}"):
            make(value)
    make(1)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (BatchBALD, "max_configurations"),
        (JointPredictiveEntropy, "max_configurations"),
        (
            lambda n: ExactJointEntropy.empty(draws=4, like=P).sampled(n, np.random.default_rng(0)),
            "num_configurations",
        ),
    ],
)
def test_a_sample_of_one_has_no_standard_error(make: Any, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least 2; got 1"):
        make(1)
    with pytest.raises(TypeError, match=f"{name} must be a whole number; got 2.5"):
        make(2.5)
    make(2)


def test_seeds() -> None:
    for seed, error, message in [
        (-1, ValueError, "seed must be at least 0; got -1"),
        (0.5, TypeError, "seed must be a whole number; got 0.5"),
        (np.random.default_rng(0), TypeError, "seed must be a whole number; got Generator"),
    ]:
        with pytest.raises(error, match=message):
            select_batch(P, BALD(), 1, seed=seed)
    assert select_batch(P, BatchBALD(3), 3, seed=2**70) == select_batch(P, BatchBALD(3), 3, seed=2**70)


@pytest.mark.parametrize(
    ("pending", "error", "message"),
    [
        ([1, 1], ValueError, r"pending must not come twice; got \[1\] more than once"),
        ([6], ValueError, r"pending must lie in 0 … 5, as the pool has 6; got \[6\]"),
        ([-1], ValueError, r"pending must lie in 0 … 5"),
        ([2**64 - 1], ValueError, r"pending must lie in 0 … 5"),
        ([1.0], TypeError, "pending must be whole numbers; got float64"),
        (3, TypeError, r"pending must be several whole numbers, such as \[3, 5\]; got 3"),
        (np.array(3), TypeError, "pending must be several whole numbers"),
        ([[1], [2, 3]], TypeError, "pending must be several whole numbers"),
        ("13", TypeError, "pending must be whole numbers"),
        ([2**70], TypeError, "pending must be whole numbers; got object"),
        (np.zeros(6, dtype=bool), TypeError, "pending must be whole numbers; got bool"),
    ],
    ids=repr,
)
def test_pending_positions(pending: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        select_batch(P, BALD(), 1, pending=pending)


def test_pending_positions_may_come_in_any_collection() -> None:
    wanted = select_batch(P, BatchBALD(), 2, pending=[4, 1])
    for pending in ((4, 1), np.array([4, 1], dtype=np.uint8), iter([4, 1]), {4: "a", 1: "b"}):
        assert select_batch(P, BatchBALD(), 2, pending=pending) == wanted
    assert select_batch(P, BALD(), 2, pending=np.array([])) == select_batch(P, BALD(), 2)


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        (BALD, r"objective must be an instance with init, gains and update; got <class .*BALD'>\. Write BALD\(\)\."),
        ("bald", r"got 'bald'\. It lacks init, gains, update"),
        (None, "It lacks init, gains, update"),
        (TopK(), "It lacks init, gains, update"),
    ],
)
def test_what_is_no_objective(objective: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        select_batch(P, objective, 1)


@pytest.mark.parametrize(
    ("maximiser", "message"),
    [
        (Greedy, r"maximiser must be something to call, such as Greedy\(\); got .*Write Greedy\(\)"),
        ("greedy", r"maximiser must be something to call, such as Greedy\(\); got 'greedy'"),
    ],
)
def test_what_is_no_maximiser(maximiser: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        select_batch(P, BALD(), 1, maximiser=maximiser)


def test_what_is_no_map() -> None:
    with pytest.raises(TypeError, match="map must be something to call, such as an executor's map; got None"):
        select_batch(P, BALD(), 1, map=None)


def test_maximisers_refuse_objectives_that_do_not_say_what_they_rely_on() -> None:
    with pytest.raises(
        ValueError, match=r"TopK needs a modular objective; BatchBALD does not say .*Use Greedy\(\), or"
    ):
        select_batch(P, BatchBALD(), 2, maximiser=TopK())

    class Silent(BALD):
        modular = False

    message = r"LazyGreedy needs a submodular objective; Silent does not say .*set `submodular = True` on its class"
    with pytest.raises(ValueError, match=message):
        select_batch(P, Silent(), 2, maximiser=LazyGreedy())
    assert select_batch(P, Silent(), 2) == select_batch(P, BALD(), 2, maximiser=Greedy()), "Greedy asks for nothing"
    assert select_batch(P, PredictiveEntropy(), 2, maximiser=LazyGreedy()).indices, "modular is submodular too"


def test_gains_of_another_shape() -> None:
    class Flat(BALD):
        def gains(self, state: None, candidates: Any) -> Any:
            return np.zeros((len(candidates), 1))

    with pytest.raises(
        ValueError, match=r"Flat\.gains must return one gain a candidate, shape \(6,\); got shape \(6, 1\)"
    ):
        select_batch(P, Flat(), 1)


def test_a_pool_of_a_users_own_without_candidates() -> None:
    class Empty:
        def __len__(self) -> int:
            return 0

        def shards(self) -> list:
            return []

        def take(self, index: np.ndarray) -> None: ...

    with pytest.raises(ValueError, match="the number of candidates in the pool must be at least 1; got 0"):
        select_batch(Empty(), BALD(), 1)


@pytest.mark.parametrize("like", [None, [1.0], np.zeros(3, dtype=int)])
def test_an_empty_joint_entropy_is_like_a_floating_array(like: Any) -> None:
    with pytest.raises(TypeError, match="like must"):
        ExactJointEntropy.empty(draws=2, like=like)
