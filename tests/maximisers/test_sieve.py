from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np
import pytest

from infoacq import BatchBALD, Greedy, from_probs, select_batch
from infoacq.gaussian import from_embeddings
from infoacq.maximisers import SieveStreaming
from infoacq.objectives import EPIG, GaussianBatchBALD, JointPredictiveEntropy, SetFunction
from infoacq.wrappers import AtMostPerGroup, Constrained
from tests.oracles import batchbald, best_batch
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


@pytest.mark.parametrize("epsilon", [0.05, 0.3])
@pytest.mark.parametrize("seed", range(6))
def test_worth_at_least_half_less_epsilon_of_the_best_batch(seed, epsilon):
    probs = dirichlet(seed, 9, 6, 2, 0.3)
    chosen = select_batch(probs, BatchBALD(), 3, maximiser=SieveStreaming(epsilon))
    best = best_batch(probs.tolist(), 3)
    assert (0.5 - epsilon) * best <= chosen.scores[-1] <= best + 1e-9
    assert chosen.scores == pytest.approx([batchbald(probs[chosen.indices[: i + 1]].tolist()) for i in range(3)])


SETS = [{0, 1}, {2}, {0, 1, 2, 3}, {4}, {5}, {4, 5}, {0, 4}]


def covered(batch):
    return float(len(set().union(*(SETS[i] for i in batch))))


def test_in_any_order_of_the_pool():
    best = max(covered(batch) for batch in combinations(range(7), 2))
    pool = dirichlet(0, 7, 2, 2)
    for order in list(permutations(range(7)))[::97]:
        moved = SetFunction(lambda batch, order=order: covered([order[i] for i in batch]), submodular=True)
        assert select_batch(pool, moved, 2, maximiser=SieveStreaming(0.1)).scores[-1] >= 0.4 * best


def candidate_by_candidate(order, size, epsilon):
    """The batch of the algorithm as it is written down: one candidate at a time, guesses made as the largest grows."""
    largest, sieves = 0.0, {}
    for n, covers in enumerate(order):
        largest = max(largest, len(covers))
        guesses = [i for i in range(-40, 80) if largest <= (1 + epsilon) ** i <= 2 * size * largest]
        sieves = {i: sieves.get(i, []) for i in guesses}
        for i, batch in sieves.items():
            value = len(set().union(*(order[j] for j in batch)))
            lacking = (1 + epsilon) ** i / 2 - value
            needed = (
                lacking / (size - len(batch)) if len(batch) < size and lacking > 0 else (1 + epsilon) ** i / 2 / size
            )
            if len(batch) < size and len(covers - set().union(*(order[j] for j in batch))) >= needed:
                batch.append(n)
    return max(sieves.values(), key=lambda batch: len(set().union(*(order[j] for j in batch))))


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_algorithm_of_the_paper(seed):
    rng = np.random.default_rng(seed)
    order = [set(rng.choice(40, rng.integers(1, 9), replace=False).tolist()) for _ in range(40)]
    covers = SetFunction(lambda batch: float(len(set().union(*(order[i] for i in batch)))), submodular=True)
    pool = from_probs(dirichlet(0, 40, 2, 2)).with_shards_of(11)
    chosen = select_batch(pool, covers, 4, maximiser=SieveStreaming(0.2)).indices
    expected = candidate_by_candidate(order, 4, 0.2)
    assert chosen[: len(expected)] == expected


@dataclass(frozen=True)
class Counted:
    """A shard that notes when it is loaded."""

    shard: object
    loaded: list

    def load(self):
        candidates = self.shard.load()
        self.loaded.append(int(candidates.index[0]))
        return candidates


@dataclass(frozen=True)
class ReadOnce:
    """A pool that notes what is read of it."""

    pool: object
    loaded: list = field(default_factory=list)
    taken: list = field(default_factory=list)

    def __len__(self):
        return len(self.pool)

    def shards(self):
        return [Counted(shard, self.loaded) for shard in self.pool.shards()]

    def take(self, index):
        self.taken.extend(index.tolist())
        return self.pool.take(index)


def test_every_shard_is_loaded_once_and_nothing_else_is_read():
    pool = ReadOnce(from_probs(dirichlet(1, 50, 6, 3, 0.3)).with_shards_of(8))
    select_batch(pool, BatchBALD(), 5, maximiser=SieveStreaming())
    assert pool.loaded == [0, 8, 16, 24, 32, 40, 48]
    assert set(pool.taken) == {0}  # for the number of draws


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("objective", [BatchBALD(), BatchBALD(max_configurations=4)], ids=["exact", "sampled"])
def test_shards_of_any_size_give_the_same_batch(size, objective):
    pool = from_probs(dirichlet(2, 30, 6, 3, 0.3))
    whole, cut = (
        select_batch(p, objective, 5, maximiser=SieveStreaming(0.3), seed=0) for p in (pool, pool.with_shards_of(size))
    )
    assert cut.indices == whole.indices
    assert cut.gains == pytest.approx(whole.gains)
    assert cut.standard_errors == pytest.approx(whole.standard_errors)


def test_near_greedy_on_a_larger_pool():
    pool = from_probs(dirichlet(3, 200, 10, 4, 0.3))
    for objective in (BatchBALD(), JointPredictiveEntropy()):
        sieve = select_batch(pool, objective, 5, maximiser=SieveStreaming(), seed=0)
        assert sieve.scores[-1] > 0.8 * select_batch(pool, objective, 5, maximiser=Greedy(), seed=0).scores[-1]
        assert sorted(set(sieve.indices)) == sorted(sieve.indices)
        assert sieve.evaluations > 200


def test_a_stream_of_ties():
    # Ten times the same three points: the guarantee holds, and none is chosen twice.
    probs = np.repeat(dirichlet(9, 3, 5, 2, 0.3), 10, axis=0)
    chosen = select_batch(probs, BatchBALD(), 3, maximiser=SieveStreaming(0.1))
    assert len(set(chosen.indices)) == 3
    assert chosen.scores[-1] >= 0.4 * best_batch(probs[[0, 1, 2, 10, 11, 12, 20, 21, 22]].tolist(), 3)


def test_nothing_to_gain_is_filled_from_the_lowest_index_on():
    chosen = select_batch(np.full((6, 3, 2), 0.5), BatchBALD(), 4, maximiser=SieveStreaming())
    assert chosen.indices == [0, 1, 2, 3]
    assert chosen.gains == [0.0] * 4


def test_free_places_are_filled_from_those_that_are_worth_most_alone():
    # The first guess is met by one candidate; the others are worth too little for their part of any guess.
    worth = [0.01, 10.0, 0.02, 0.03]
    objective = SetFunction(lambda batch: sum(worth[i] for i in batch), submodular=True)
    assert select_batch(dirichlet(4, 4, 2, 2), objective, 3, maximiser=SieveStreaming()).indices == [1, 3, 2]


def test_pending_points_and_groups_and_other_pools():
    probs = dirichlet(5, 12, 5, 3, 0.3)
    chosen = select_batch(probs, BatchBALD(), 3, pending=[0, 5], maximiser=SieveStreaming())
    assert not {0, 5} & set(chosen.indices)
    worth = batchbald(probs[[0, 5, *chosen.indices]].tolist()) - batchbald(probs[[0, 5]].tolist())
    assert chosen.scores[-1] == pytest.approx(worth)
    groups = Constrained(BatchBALD(), [AtMostPerGroup([0, 1, 2] * 4)])
    assert len({i % 3 for i in select_batch(probs, groups, 3, maximiser=SieveStreaming()).indices}) == 3
    features = from_embeddings(np.random.default_rng(6).standard_normal((20, 4)))
    assert len(select_batch(features, GaussianBatchBALD(0.1), 5, maximiser=SieveStreaming())) == 5


def test_an_objective_that_is_not_submodular_and_a_gain_that_is_no_number_are_refused():
    with pytest.raises(ValueError, match="SieveStreaming needs a submodular objective; EPIG"):
        select_batch(dirichlet(7, 4, 3, 2), EPIG(dirichlet(8, 2, 3, 2)), 1, maximiser=SieveStreaming())
    nan = SetFunction(lambda batch: float("nan") if len(batch) > 1 else float(len(batch)), submodular=True)
    with pytest.raises(ValueError, match=r"SetFunction\.gains returned nan"):
        select_batch(dirichlet(7, 4, 3, 2), nan, 2, maximiser=SieveStreaming())


@pytest.mark.parametrize("epsilon", [0.0, 0.5, -1.0])
def test_epsilon_is_between_zero_and_a_half(epsilon):
    with pytest.raises(ValueError, match=r"epsilon must be a finite number above 0 and below 0\.5"):
        SieveStreaming(epsilon)
