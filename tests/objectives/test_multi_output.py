import math
import pickle

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, Random, from_probs, select_batch
from infoacq.objectives import MultiOutputBatchBALD, Scores
from infoacq.outputs import OutputsPool, from_outputs, information_along_paths
from infoacq.pool import ArrayPool
from infoacq.wrappers import Constrained, CostAware, MustNotHave, WeightedSum
from tests.backends import Backend, numpy
from tests.oracles import batchbald
from tests.predictions import dirichlet, dyadic

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
CLASSES = (2, 3, 2)


def outputs_of(seed, n, k, classes=CLASSES, concentration=0.5):
    return [dirichlet(seed + i, n, k, c, concentration) for i, c in enumerate(classes)]


def value(outputs, batch):
    """The information of every label of the batch, each a point of its own, by enumeration."""
    return batchbald([p[i].tolist() for i in batch for p in outputs])


def test_scores_are_the_information_of_every_label(maker: Backend):
    outputs = [dyadic(i, 6, 4, c) for i, c in enumerate(CLASSES)]
    pool = from_outputs([maker.array(p) for p in outputs])
    chosen = select_batch(pool, MultiOutputBatchBALD(), 2)
    expected = [value(outputs, chosen.indices[: i + 1]) for i in range(2)]
    np.testing.assert_allclose(chosen.scores, expected, atol=10 * maker.tolerance)
    assert chosen.standard_errors == [0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rows_that_miss_one_by_their_rounding_are_taken_when_configurations_are_sampled(dtype: str):
    torch = pytest.importorskip("torch")
    outputs = [torch.from_numpy(dirichlet(20 + i, 30, 20, 2)).to(getattr(torch, dtype)) for i in range(6)]
    outputs = [p * (1 + 5e-4) for p in outputs] if dtype == "float32" else outputs
    chosen = select_batch(from_outputs(outputs), MultiOutputBatchBALD(max_configurations=64), 4, seed=0)
    exact = value([p.double().numpy() for p in outputs], chosen.indices[:1])
    assert chosen.gains[0] == pytest.approx(exact, abs=0.05)
    assert max(chosen.standard_errors) > 0.0


@pytest.mark.parametrize("maximiser", [None, Greedy()])
def test_every_pick_is_the_best_one(maximiser):
    outputs = outputs_of(0, 7, 5)
    chosen = select_batch(from_outputs(outputs), MultiOutputBatchBALD(), 3, maximiser=maximiser).indices
    for i in range(3):
        rest = [j for j in range(7) if j not in chosen[:i]]
        assert chosen[i] == max(rest, key=lambda j: value(outputs, [*chosen[:i], j]))


def test_one_output_is_batchbald():
    probs = dirichlet(1, 20, 6, 4)
    single = select_batch(from_outputs([probs]), MultiOutputBatchBALD(max_configurations=100), 5, seed=0)
    plain = select_batch(probs, BatchBALD(max_configurations=100), 5, seed=0)
    assert single.indices == plain.indices
    np.testing.assert_allclose(single.scores, plain.scores, atol=1e-9)


def test_labels_that_tell_the_same_are_not_counted_twice():
    probs = dirichlet(2, 5, 8, 2, 0.1)
    joint = select_batch(from_outputs([probs, probs, probs]), MultiOutputBatchBALD(), 1)
    assert joint.gains[0] < 3 * select_batch(probs, BALD(), 1).gains[0] - 0.1


@pytest.mark.parametrize("pending", [[], [5]])
def test_sampled_labels_lie_about_the_enumerated_ones(pending):
    outputs = outputs_of(3, 6, 6)
    pool, batch = from_outputs(outputs), Constrained(MultiOutputBatchBALD(max_labels=8), [MustNotHave(range(1, 6))])
    exact = value(outputs, [*pending, 0]) - (value(outputs, pending) if pending else 0.0)
    runs = [select_batch(pool, batch, 1, pending=pending, seed=seed) for seed in range(60)]
    errors = np.array([run.gains[0] for run in runs]) - exact
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(60)
    # Strata make the true error smaller than that of independent paths, which is the one reported.
    assert 0 < errors.std() < 1.4 * np.mean([run.standard_errors[0] for run in runs])


def test_many_outputs_are_sampled_and_right_where_nothing_is_left_to_chance():
    # 40 certain outputs, of which the j-th tells bit j % 5 of the draw: together they tell all 32 draws apart.
    draws = np.arange(32)
    outputs = [np.eye(2)[(draws >> (j % 5)) & 1][None] for j in range(40)]
    chosen = select_batch(from_outputs(outputs), MultiOutputBatchBALD(max_labels=16), 1, seed=0)
    assert chosen.gains[0] == pytest.approx(math.log(32))
    assert chosen.standard_errors[0] == pytest.approx(0.0, abs=1e-12)


def test_the_estimate_of_a_candidate_does_not_depend_on_the_others_nor_on_shards():
    pool = from_outputs(outputs_of(4, 30, 5))
    objective = MultiOutputBatchBALD(max_labels=8)
    state = objective.update(objective.init(pool), pool.take(np.array([3])), np.random.default_rng(0))
    everyone = objective.gains(state, pool.take(np.arange(30)))
    np.testing.assert_allclose(objective.gains(state, pool.take(np.array([7, 2]))), everyone[[7, 2]], atol=1e-12)
    whole, cut = (select_batch(p, objective, 4, seed=1) for p in (pool, pool.with_shards_of(7)))
    assert whole.indices == cut.indices


def test_a_label_that_is_drawn_is_always_possible():
    p = np.zeros((1, 2, 3, 4))
    p[0, 0, :, 1] = p[0, 1, :, 2] = 1.0
    uniforms = np.array([[0.0, 0.5, 1 - 1e-12], [1 - 1e-12, 0.0, 0.5]])
    each = information_along_paths(p, np.full((2, 2), 0.5), uniforms)
    np.testing.assert_allclose(each, math.log(2))


def test_other_objectives_on_outputs():
    pool = from_outputs(outputs_of(5, 8, 4))
    for objective in (BatchBALD(), BALD(), WeightedSum((MultiOutputBatchBALD(), BALD()), (1.0, 1.0))):
        with pytest.raises(ValueError, match="the pool holds probabilities of several outputs"):
            select_batch(pool, objective, 1)
    with pytest.raises(ValueError, match=r"reads probabilities of several outputs .* the pool holds class prob"):
        select_batch(dirichlet(6, 4, 3, 2), MultiOutputBatchBALD(), 1)
    for objective in (
        Random(),
        Scores(lambda candidates: candidates.predictions.max(axis=(1, 2, 3))),
        CostAware(MultiOutputBatchBALD(), [1.0] * 8),
        WeightedSum((MultiOutputBatchBALD(), Random()), (1.0, 0.1)),
    ):
        assert len(select_batch(pool, objective, 3, seed=0)) == 3


def test_outputs_that_have_one_class_only_tell_nothing():
    certain, probs = np.ones((6, 5, 1)), dirichlet(12, 6, 5, 2, 0.3)
    for max_labels in (2, 256):
        nothing = select_batch(from_outputs([certain] * 3), MultiOutputBatchBALD(max_labels=max_labels), 2, seed=0)
        assert (nothing.indices, nothing.gains) == ([0, 1], [0.0, 0.0])
    beside = select_batch(from_outputs([certain, probs, certain]), MultiOutputBatchBALD(), 3)
    alone = select_batch(probs, BatchBALD(), 3)
    assert beside.indices == alone.indices
    assert beside.gains == pytest.approx(alone.gains)


def test_outputs_in_one_array_without_padding():
    p = np.stack(outputs_of(7, 5, 4, (3, 3)), axis=2)
    pool = OutputsPool(ArrayPool(p), (3, 3))
    from_list = from_outputs([p[:, :, 0], p[:, :, 1]])
    np.testing.assert_array_equal(numpy(from_list.take(np.arange(5)).predictions), p)
    ours, theirs = (select_batch(q, MultiOutputBatchBALD(), 3) for q in (pool, from_list))
    assert ours == theirs


def test_the_limit_pickling_and_purity():
    pool, objective = from_outputs(outputs_of(8, 6, 5)), MultiOutputBatchBALD(max_labels=4, key=3)
    assert objective.limit(pool) == pytest.approx(math.log(5))
    state = objective.init(pool)
    before = objective.gains(state, pool.take(np.arange(6)))
    objective.update(state, pool.take(np.array([2])), np.random.default_rng(0))
    copy, copied = pickle.loads(pickle.dumps((objective, state)))
    np.testing.assert_array_equal(copy.gains(copied, pool.take(np.arange(6))), before)


def test_bad_outputs_are_refused(untyped):
    good = dirichlet(9, 4, 3, 2)
    with pytest.raises(TypeError, match="outputs must be a list: an iterator"):
        from_outputs(p for p in [good, good])
    with pytest.raises(ValueError, match="the number of outputs must be at least 1"):
        from_outputs([])
    with pytest.raises(ValueError, match=r"outputs\[1\] must be probabilities; candidate 0, draw 0 sums to 2"):
        from_outputs([good, 2 * good])
    with pytest.raises(ValueError, match=r"outputs\[1\] must be of the same candidates and draws as outputs\[0\]"):
        from_outputs([good, dirichlet(9, 4, 2, 2)])
    with pytest.raises(ValueError, match="max_labels must be at least 2"):
        MultiOutputBatchBALD(max_labels=1)
    with pytest.raises(ValueError, match="the number of candidates"):
        select_batch(OutputsPool(ArrayPool(np.zeros((0, 2, 1, 2))), (2,)), MultiOutputBatchBALD(), 1)


def test_a_pool_of_classes_is_read_as_before():
    assert select_batch(from_probs(dirichlet(10, 4, 3, 2)), BALD(), 2).unit == "nats"
