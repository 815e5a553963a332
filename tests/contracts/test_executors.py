"""Wherever shards are scored, the batch is the same."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from infoacq import from_probs, select_batch
from tests.backends import Backend
from tests.contracts.table import OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import STANDARD, dirichlet, dyadic

POOL = dirichlet(81, 15, 4, 3, concentration=0.5)


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two workers that start with nothing of this process."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def assert_same(pool: Any, objective: Any, maximiser: Any, executor: Executor) -> None:
    sharded = from_probs(pool).with_shards_of(4)
    wanted = select_batch(sharded, objective, 5, maximiser=maximiser, seed=0)
    assert select_batch(sharded, objective, 5, maximiser=maximiser, seed=0, map=executor.map) == wanted


@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
def test_threads_give_the_same_batch(row: ObjectiveRow, maximiser: Any, threads: Executor) -> None:
    assert_same(POOL, row.objective, maximiser, threads)


@pytest.mark.parametrize("row", OBJECTIVES, ids=str)
def test_processes_give_the_same_batch(row: ObjectiveRow, processes: Executor) -> None:
    assert_same(POOL, row.objective, None, processes)


@pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
def test_on_every_backend(maker: Backend, threads: Executor) -> None:
    assert_same(maker.array(dyadic(82, *STANDARD)), OBJECTIVES[1].objective, None, threads)


def test_a_map_that_answers_out_of_order_or_more_than_once_changes_nothing() -> None:
    """A scheduler that retries a piece of work may hand its result over twice; it must not count twice."""

    def untidy(function: Any, shards: Any) -> list[Any]:
        done = [function(shard) for shard in shards]
        return [*reversed(done), done[0]]

    sharded = from_probs(POOL).with_shards_of(4)
    for row in OBJECTIVES:
        wanted = select_batch(sharded, row.objective, 5, seed=0)
        assert select_batch(sharded, row.objective, 5, seed=0, map=untidy).indices == wanted.indices


def test_a_map_that_loses_a_shard_is_an_error() -> None:
    def losing(function: Any, shards: Any) -> list[Any]:
        return [function(shard) for shard in shards][:-1]

    with pytest.raises(ValueError, match="candidate 12"):
        select_batch(from_probs(POOL).with_shards_of(4), OBJECTIVES[0].objective, 2, map=losing)
