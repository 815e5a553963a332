import math
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoacq import LazyGreedy, SaturationWarning, from_logits, from_probs, mutual_information, select_batch
from infoacq.gaussian import from_embeddings
from infoacq.objectives import EPIG
from tests.oracles import joint_entropy
from tests.predictions import dirichlet, pools

# Small pools tell all there is to tell within a few picks.
pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


def information(points, target):
    """I[labels of the points; label of the target]."""
    points = list(points)
    return joint_entropy(points) + joint_entropy([target]) - joint_entropy([*points, target])


def epig(points, targets, weights):
    return sum(w * information(points, target) for w, target in zip(weights, targets, strict=True))


@given(pools(), st.integers(0, 99))
@settings(max_examples=25)
def test_scores_are_the_information_by_enumeration(probs, seed):
    targets, weights = dirichlet(seed, 3, probs.shape[1], 3, 0.3), np.random.default_rng(seed).random(3)
    objective = EPIG(targets, weights)
    chosen = select_batch(probs, objective, min(len(probs), 3), seed=0)
    relative = weights / weights.sum()
    expected = [epig(probs[chosen.indices[: i + 1]], targets, relative) for i in range(len(chosen))]
    np.testing.assert_allclose(chosen.scores, expected, atol=1e-12)
    assert chosen.gains[0] == pytest.approx(max(epig([p], targets, relative) for p in probs), abs=1e-12)


def test_targets_alike_by_default():
    probs, targets = dirichlet(0, 4, 5, 3), dirichlet(1, 6, 5, 2)
    gain = select_batch(probs, EPIG(targets), 1).gains[0]
    assert gain == pytest.approx(max(epig([point], targets, [1 / 6] * 6) for point in probs))


def test_what_no_target_depends_on_is_worth_nothing():
    # Draws differ in two bits: candidate 0 tells the first, candidate 1 the second, the target is the first.
    bit = np.eye(2)
    first, second = bit[[0, 0, 1, 1]], bit[[0, 1, 0, 1]]
    chosen = select_batch(np.stack([second, first]), EPIG(first[None]), 2)
    assert chosen.indices == [1, 0]
    np.testing.assert_allclose(chosen.gains, [math.log(2), 0.0], atol=1e-12)


def test_two_labels_may_tell_together_what_neither_does_alone():
    # The target is the exclusive or of the candidates: the second gain is larger than the first.
    bit = np.eye(2)
    probs = np.stack([bit[[0, 0, 1, 1]], bit[[0, 1, 0, 1]]])
    chosen = select_batch(probs, EPIG(bit[[0, 1, 1, 0]][None]), 2)
    np.testing.assert_allclose(chosen.gains, [0.0, math.log(2)], atol=1e-12)
    with pytest.raises(ValueError, match=r"EPIG is none: two labels may tell together .*\. Use Greedy"):
        select_batch(probs, EPIG(probs), 1, maximiser=LazyGreedy())


def test_sampled_gains_lie_about_the_exact_ones():
    probs, targets = dirichlet(3, 4, 6, 3, 0.5), dirichlet(4, 5, 6, 3, 0.5)
    exact = epig(probs[:4], targets, [0.2] * 5) - epig(probs[:3], targets, [0.2] * 5)
    runs = [
        select_batch(probs, EPIG(targets, max_configurations=90), 1, pending=[0, 1, 2], seed=seed) for seed in range(60)
    ]
    errors = np.array([run.gains[0] for run in runs]) - exact
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(60)
    assert 0 < errors.std() < 1.4 * np.mean([run.standard_errors[0] for run in runs])


def test_the_first_pick_is_exact_however_few_configurations():
    probs, targets = dirichlet(5, 5, 6, 3), dirichlet(6, 7, 6, 3)
    few, many = (select_batch(probs, EPIG(targets, max_configurations=m), 1, seed=0) for m in (2, 10_000))
    assert few.gains == many.gains
    assert few.standard_errors == [0.0]


def test_the_limit_is_what_the_draws_tell_of_the_targets():
    # Four points that tell the draw apart; the targets are noisy, so the limit is below the targets' entropy.
    targets = dirichlet(7, 3, 2, 2)
    with pytest.warns(SaturationWarning):
        chosen = select_batch(np.tile(np.eye(2), (4, 1, 1)), EPIG(targets), 2)
    assert chosen.limit == pytest.approx(float(mutual_information(targets).mean()))
    assert chosen.scores[0] == pytest.approx(chosen.limit)


def test_targets_of_a_pool_another_backend_and_half_precision():
    probs, z = dirichlet(8, 20, 8, 4, 0.3), np.random.default_rng(6).standard_normal((5, 8, 4))
    expected = select_batch(probs, EPIG(from_logits(z)), 4, seed=0)
    targets = from_logits(z).predictions
    half = select_batch(probs.astype(np.float16), EPIG(targets.astype(np.float16)), 1)
    assert half.gains[0] == pytest.approx(expected.gains[0], abs=5e-3)
    torch = pytest.importorskip("torch")
    tensors = select_batch(torch.tensor(probs), EPIG(from_probs(torch.tensor(targets))), 4, seed=0)
    assert tensors.indices == expected.indices


def test_memory_stays_within_candidates_times_targets():
    n, t, c = 1000, 200, 10
    pool, objective = (
        from_probs(dirichlet(11, n, 8, c).astype(np.float32)),
        EPIG(dirichlet(12, t, 8, c).astype(np.float32)),
    )
    state, everyone = objective.init(pool), pool.take(np.arange(n))
    tracemalloc.start()
    objective.gains(state, everyone)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All at once, n × t × c × c joint labels would be 80 MB in float32, a hundred times n × t of them.
    assert peak < 4 * n * t * 8


def test_state_is_left_alone_and_pickles():
    rng = np.random.default_rng(7)
    pool, objective = from_probs(dirichlet(9, 6, 5, 3)), EPIG(dirichlet(10, 4, 5, 3))
    state = objective.init(pool)
    before = objective.gains(state, pool.take(np.arange(6)))
    objective.update(state, pool.take(np.array([2])), rng)
    again = pickle.loads(pickle.dumps(objective)).gains(pickle.loads(pickle.dumps(state)), pool.take(np.arange(6)))
    np.testing.assert_array_equal(before, again)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"targets": np.full((2, 3), 0.5)}, r"targets must have shape \(t, k, c\) = \(targets, draws, classes\)"),
        ({"targets": np.full((2, 3, 2), 0.7)}, "targets must be probabilities; target 0, draw 0 sums to 1.4"),
        ({"weights": [1.0]}, "weights must hold one entry for each of the 2 targets; got 1"),
        ({"weights": [1.0, -1.0]}, "weights must not be negative"),
        ({"weights": [0.0, 0.0]}, "nor all 0"),
        ({"weights": [1.0, np.nan]}, "weights must be finite; number 1 is nan"),
        ({"max_configurations": 0}, "max_configurations must be at least 2"),
    ],
)
def test_bad_arguments_are_refused_at_once(arguments, message):
    with pytest.raises(ValueError, match=message):
        EPIG(**{"targets": np.full((2, 3, 2), 0.5), **arguments})


def test_targets_under_other_draws_are_refused():
    with pytest.raises(ValueError, match="targets must be under the same 4 draws"):
        select_batch(np.full((5, 4, 2), 0.5), EPIG(np.full((2, 3, 2), 0.5)), 1)
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=r"EPIG reads class probabilities .* the pool holds values"):
        EPIG(from_embeddings(np.ones((2, 4))))
    with pytest.raises(ValueError, match="one library on one device"):
        select_batch(np.full((5, 4, 2), 0.5), EPIG(torch.full((2, 4, 2), 0.5)), 1)
