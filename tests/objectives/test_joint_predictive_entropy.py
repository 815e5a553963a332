import math

import numpy as np
import pytest
from hypothesis import given, settings

from infoacq import Greedy, select_batch
from infoacq.objectives import JointPredictiveEntropy
from tests.oracles import joint_entropy
from tests.predictions import dirichlet, pools


def entropy(probs, batch):
    return joint_entropy([probs[i] for i in batch])


@given(pools())
@settings(max_examples=50)
def test_scores_are_joint_entropies_by_enumeration(probs):
    chosen = select_batch(probs, JointPredictiveEntropy(), min(len(probs), 4))
    expected = [entropy(probs, chosen.indices[: i + 1]) for i in range(len(chosen))]
    np.testing.assert_allclose(chosen.scores, expected, atol=1e-10)


def test_every_pick_is_the_best_one():
    probs = dirichlet(1, 7, 4, 3)
    chosen = select_batch(probs, JointPredictiveEntropy(), 4).indices
    for i in range(4):
        rest = [j for j in range(7) if j not in chosen[:i]]
        assert chosen[i] == max(rest, key=lambda j: entropy(probs, [*chosen[:i], j]))


def test_noise_counts():
    # Fair coins under every draw: nothing to learn of the draws, log 2 of entropy each.
    chosen = select_batch(np.full((3, 2, 2), 0.5), JointPredictiveEntropy(), 3)
    np.testing.assert_allclose(chosen.gains, [math.log(2)] * 3, rtol=1e-12)


def test_lazy_evaluation_chooses_what_greedy_does():
    probs = dirichlet(2, 300, 5, 3)
    lazy, plain = (select_batch(probs, JointPredictiveEntropy(), 6, maximiser=m) for m in (None, Greedy()))
    assert lazy.indices == plain.indices
    assert lazy.evaluations < plain.evaluations


def test_sampled_gains_lie_about_the_exact_ones():
    probs = dirichlet(3, 6, 5, 3)
    objective, exact = (
        JointPredictiveEntropy(max_configurations=30),
        entropy(probs, range(6)) - entropy(probs, range(5)),
    )
    errors, reported = [], []
    for seed in range(60):
        gain, error = gain_of_sixth(objective, probs, seed)
        errors.append(gain - exact)
        reported.append(error)
    # 60 repetitions: their mean is known to the spread / √60, their spread to 10 %.
    assert abs(np.mean(errors)) < 4 * np.std(errors) / math.sqrt(60)
    assert 0 < np.std(errors) < 1.4 * np.mean(reported)


def gain_of_sixth(objective, probs, seed):
    selection = select_batch(probs, objective, 1, pending=range(5), seed=seed)
    return selection.gains[0], selection.standard_errors[0]


def test_exact_gains_have_no_standard_error():
    chosen = select_batch(dirichlet(4, 5, 3, 2), JointPredictiveEntropy(), 4)
    assert chosen.standard_errors == [0.0] * 4


def test_pending_points_are_conditioned_on():
    probs = dirichlet(5, 6, 4, 2)
    chosen = select_batch(probs, JointPredictiveEntropy(), 2, pending=[4, 1])
    assert chosen.scores[-1] == pytest.approx(entropy(probs, [4, 1, *chosen.indices]) - entropy(probs, [4, 1]))


def test_max_configurations_is_a_whole_number():
    with pytest.raises(ValueError, match="max_configurations must be at least 2; got 0"):
        JointPredictiveEntropy(0)
