import math

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, PredictiveEntropy, Random, from_probs, select_batch
from infoacq.objectives import EPIG, JointPredictiveEntropy, Scores, SetFunction
from infoacq.wrappers import Constrained, CostAware, MustNotHave, WeightedSum
from tests.oracles import batchbald, joint_entropy
from tests.predictions import dirichlet


def test_scores_are_the_weighted_sums_by_enumeration():
    probs = dirichlet(0, 8, 4, 3, 0.5)
    objective = WeightedSum((BatchBALD(), JointPredictiveEntropy()), (2.0, 0.5))
    chosen = select_batch(probs, objective, 3)
    batches = [probs[chosen.indices[: i + 1]].tolist() for i in range(3)]
    np.testing.assert_allclose(chosen.scores, [2 * batchbald(b) + 0.5 * joint_entropy(b) for b in batches])
    assert chosen.unit == "nats"
    assert chosen.limit is None


def test_each_pick_is_the_best_by_brute_force():
    probs = dirichlet(1, 8, 4, 3, 0.5)
    cost = np.linspace(0, 1, 8)
    objective = WeightedSum((BatchBALD(), Scores(lambda c: cost[c.index], unit="hours")), (1.0, -0.3))
    chosen = select_batch(probs, objective, 3)
    assert chosen.unit == "weighted sum"
    for i in range(3):
        before = chosen.indices[:i]

        def value(j, before=before):
            return batchbald(probs[[*before, j]].tolist()) - 0.3 * cost[j]

        assert chosen.indices[i] == max((j for j in range(8) if j not in before), key=value)


def test_what_a_sum_says_of_itself():
    information, noise, score = BatchBALD(), JointPredictiveEntropy(), PredictiveEntropy()
    assert WeightedSum((information, noise), (1.0, 1.0)).submodular
    assert WeightedSum((information, score), (1.0, -1.0)).submodular
    assert not WeightedSum((noise, information), (1.0, -1.0)).submodular
    aimed = WeightedSum((information, EPIG(dirichlet(2, 2, 3, 2))), (1.0, 1.0))
    assert not aimed.submodular
    with pytest.raises(ValueError, match=r"WeightedSum is none: its EPIG may add more to a larger batch. Use Greedy"):
        select_batch(dirichlet(2, 4, 3, 2), aimed, 1, maximiser=LazyGreedy())
    assert WeightedSum((score, BALD()), (1.0, -1.0)).modular
    assert not WeightedSum((score, information), (1.0, 1.0)).modular


def test_lazy_evaluation_of_a_submodular_sum_chooses_what_greedy_does():
    probs = dirichlet(3, 300, 4, 3)
    objective = WeightedSum((BatchBALD(), BALD()), (1.0, -0.4))
    lazy, plain = (select_batch(probs, objective, 6, maximiser=m) for m in (LazyGreedy(), Greedy()))
    assert lazy.indices == plain.indices


def test_limits_add_up_and_a_limit_of_one_term_is_none_of_the_sum():
    probs = dirichlet(4, 5, 4, 3)
    assert select_batch(probs, WeightedSum((BatchBALD(),), (0.5,)), 1).limit == pytest.approx(0.5 * math.log(4))
    assert select_batch(probs, WeightedSum((BatchBALD(), BALD()), (1.0, 1.0)), 1).limit is None
    assert select_batch(probs, WeightedSum((BatchBALD(), BatchBALD()), (2.0, -1.0)), 1).limit is None


def test_a_weight_of_one_changes_nothing_sampling_included():
    probs = dirichlet(5, 20, 6, 4)
    objective = BatchBALD(max_configurations=50)
    alone, summed = (select_batch(probs, o, 5, seed=1) for o in (objective, WeightedSum((objective,), (1.0,))))
    assert summed.indices == alone.indices
    np.testing.assert_allclose(summed.gains, alone.gains)
    np.testing.assert_allclose(summed.standard_errors, alone.standard_errors)
    assert summed.standard_errors[-1] > 0


def test_ruled_out_is_ruled_out_whatever_the_weight():
    objective = Scores(lambda c: np.where(c.index == 0, -np.inf, 1.0))
    for weight in (1.0, -1.0, 0.0):
        assert select_batch(dirichlet(6, 3, 2, 2), WeightedSum((objective,), (weight,)), 2).indices == [1, 2]


def test_random_terms_are_seeded():
    pool = from_probs(dirichlet(7, 100, 2, 2))
    objective = WeightedSum((Random(),), (1.0,))
    assert select_batch(pool, objective, 5, seed=1).indices == select_batch(pool, objective, 5, seed=1).indices
    assert select_batch(pool, objective, 5, seed=1).indices != select_batch(pool, objective, 5, seed=2).indices


def test_pending_points_are_conditioned_on():
    probs = dirichlet(8, 6, 4, 2, 0.5)
    chosen = select_batch(probs, WeightedSum((BatchBALD(),), (3.0,)), 2, pending=[1, 4])
    expected = batchbald(probs[[1, 4, *chosen.indices]].tolist()) - batchbald(probs[[1, 4]].tolist())
    assert chosen.scores[-1] == pytest.approx(3 * expected)


def test_a_sum_with_epig_is_chosen_by_greedy_given_pending_labels():
    probs, targets = dirichlet(10, 7, 4, 2, 0.5), dirichlet(11, 2, 4, 2)
    objective = WeightedSum((BALD(), EPIG(targets)), (1.0, 0.5))

    def value(batch):
        points, each = probs[batch].tolist(), [batchbald([probs[i].tolist()]) for i in batch]
        told = [joint_entropy([*points]) + joint_entropy([t]) - joint_entropy([*points, t]) for t in targets.tolist()]
        return math.fsum(each) + 0.25 * math.fsum(told)

    chosen = select_batch(probs, objective, 2, pending=[2, 5])
    for i in range(2):
        before = [2, 5, *chosen.indices[:i]]
        rest = [j for j in range(7) if j not in before]
        assert chosen.indices[i] == max(rest, key=lambda j, before=before: value([*before, j]))
    assert chosen.scores[-1] == pytest.approx(value([2, 5, *chosen.indices]) - value([2, 5]))


def test_bad_sums_are_refused_at_once(untyped):
    with pytest.raises(TypeError, match="objectives must be a list: an iterator"):
        WeightedSum(iter([BALD()]), (1.0,))
    with pytest.raises(ValueError, match="weights must hold one entry for each of the 2 objectives; got 1"):
        WeightedSum((BALD(), BALD()), (1.0,))
    with pytest.raises(ValueError, match="weights must be finite; number 0 is inf"):
        WeightedSum((BALD(),), (math.inf,))
    with pytest.raises(TypeError, match=r"Write BALD\(\)"):
        WeightedSum((BALD,), (1.0,))
    for around in (CostAware(BALD(), [1.0]), Constrained(BALD(), [MustNotHave([0])])):
        with pytest.raises(TypeError, match=f"{type(around).__name__} is to go around a sum"):
            WeightedSum((BALD(), around), (1.0, 1.0))
    with pytest.raises(ValueError, match="the number of objectives must be at least 1"):
        WeightedSum((), ())


def test_a_set_function_beside_information():
    groups = [0, 0, 0, 1, 1, 2]
    probs = dirichlet(9, 6, 4, 3)
    variety = SetFunction(lambda batch: float(len({groups[i] for i in batch})), submodular=True, unit="nats")
    chosen = select_batch(probs, WeightedSum((BatchBALD(), variety), (1.0, 10.0)), 3)
    assert {groups[i] for i in chosen.indices} == {0, 1, 2}
