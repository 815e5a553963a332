"""TwoRounds: its guarantee, what it is on one shard, and how little of a pool it reads."""

import itertools
import math
from typing import Any

import numpy as np
import pytest

from infoacq import BatchBALD, Greedy, LazyGreedy, from_probs, select_batch
from infoacq.maximisers import TwoRounds
from infoacq.objectives import EPIG
from infoacq.wrappers import CostAware
from tests import oracles
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shard_size", [2, 3, 5])
def test_its_guarantee_against_every_batch(seed: int, shard_size: int) -> None:
    p, size = dirichlet(700 + seed, 10, 4, 3, concentration=0.3), 3
    best = max(oracles.batchbald([p[i] for i in batch]) for batch in itertools.combinations(range(10), size))
    pool = from_probs(p).with_shards_of(shard_size)
    chosen = select_batch(pool, BatchBALD(), size, maximiser=TwoRounds())
    assert oracles.batchbald([p[i] for i in chosen.indices]) == pytest.approx(chosen.scores[-1], abs=1e-9)
    assert chosen.scores[-1] >= (1 - 1 / math.e) / min(math.ceil(10 / shard_size), size) * best
    assert len(set(chosen.indices)) == size


def test_it_is_at_least_the_batch_of_each_shard_and_of_their_union() -> None:
    p = dirichlet(720, 60, 5, 3, concentration=0.3)
    batches = [select_batch(p[start : start + 20], BatchBALD(), 4, maximiser=Greedy()) for start in (0, 20, 40)]
    union = np.sort([i + start for batch, start in zip(batches, (0, 20, 40), strict=True) for i in batch.indices])
    of_union = select_batch(p[union], BatchBALD(), 4, maximiser=Greedy())
    chosen = select_batch(from_probs(p).with_shards_of(20), BatchBALD(), 4, maximiser=TwoRounds())
    worth = max(batch.scores[-1] for batch in [*batches, of_union])
    assert chosen.scores[-1] == pytest.approx(worth, abs=1e-9)
    if worth == of_union.scores[-1]:
        assert chosen.indices == union[of_union.indices].tolist()


def test_a_shard_that_has_the_best_batch_wins_over_the_union() -> None:
    """What is chosen in the second round is greedy, and greedy choice from the union can be worse than a shard's."""
    p = dirichlet(721, 12, 4, 3, concentration=0.3)
    for order in itertools.islice(itertools.permutations(range(12)), 0, 4000, 97):
        q = p[list(order)]
        shards = [select_batch(q[i : i + 6], BatchBALD(), 3, maximiser=Greedy()).scores[-1] for i in (0, 6)]
        chosen = select_batch(from_probs(q).with_shards_of(6), BatchBALD(), 3, maximiser=TwoRounds())
        assert chosen.scores[-1] >= max(shards) - 1e-12


def test_one_shard_is_greedy_and_positions_are_those_of_the_whole_pool() -> None:
    p = dirichlet(722, 40, 6, 3)
    wanted = select_batch(p, BatchBALD(), 5, pending=[3, 9], maximiser=Greedy())
    chosen = select_batch(p, BatchBALD(), 5, pending=[3, 9], maximiser=TwoRounds())
    assert chosen.indices == wanted.indices
    cost = np.linspace(1, 9, 40)
    dear = CostAware(BatchBALD(), cost)
    several = select_batch(from_probs(p).with_shards_of(7), dear, 3, maximiser=TwoRounds(LazyGreedy()), pending=[3])
    assert 3 not in several.indices
    # Costs are those of positions in the pool, not in a shard: every gain is the oracle's of the batch so far.
    values = [oracles.batchbald([p[i] for i in [3, *several.indices[:count]]]) for count in range(4)]
    np.testing.assert_allclose(several.gains, np.diff(values), atol=1e-9)


def test_each_shard_is_loaded_once_and_answers_may_come_twice() -> None:
    p, loaded = dirichlet(723, 30, 4, 3), []

    def untidy(function: Any, shards: Any) -> list[Any]:
        answers = [function(shard) for shard in shards]
        loaded.append(len(answers))
        return [*reversed(answers), answers[0]]

    pool = from_probs(p).with_shards_of(10)
    wanted = select_batch(pool, BatchBALD(), 3, maximiser=TwoRounds(), seed=0)
    assert select_batch(pool, BatchBALD(), 3, maximiser=TwoRounds(), seed=0, map=untidy) == wanted
    assert loaded == [3]


def test_what_is_no_maximiser_or_not_submodular_is_refused(untyped: None) -> None:
    with pytest.raises(TypeError, match="must be something to call"):
        TwoRounds(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="TwoRounds needs a submodular objective"):
        select_batch(dirichlet(1, 5, 2, 2), EPIG(dirichlet(2, 3, 2, 2)), 2, maximiser=TwoRounds())
