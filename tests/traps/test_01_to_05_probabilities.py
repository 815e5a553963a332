"""Traps 1 to 5: zeros, underflow, what is no probability, half precision, dependence."""

import math
import re

import numpy as np
import pytest

import infoacq
from infoacq import BALD, BatchBALD, ExactJointEntropy, Greedy, from_log_probs, from_logits, from_probs, select_batch
from tests import oracles
from tests.backends import Backend, numpy
from tests.predictions import STANDARD, TRAP_1, dirichlet, dyadic

SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


def joint_of(batch, like, count: int | None = None):
    """The joint entropy of a batch: exact, or sampled with `count` configurations after the first point."""
    joint, rng = ExactJointEntropy.empty(draws=like.shape[1], like=like), np.random.default_rng(0)
    for i in range(len(batch)):
        if count and i == 1:
            joint = joint.sampled(count, rng)
        joint = joint.append(batch[i], rng) if count and i else joint.append(batch[i])
    return joint


@SATURATING
def test_trap_01_zeros_and_ones(xp: Backend) -> None:
    p = xp.array(TRAP_1)
    np.testing.assert_allclose(numpy(infoacq.mutual_information(p)), [0, math.log(2), 0] * 2, atol=xp.tolerance)
    selection = select_batch(p, BatchBALD(), 4, maximiser=Greedy())
    assert selection.indices == [1, 0, 2, 3]
    assert selection.scores == pytest.approx([math.log(2)] * 4, abs=xp.tolerance)


@pytest.mark.parametrize("count", [None, 4, 20])
def test_trap_01_impossible_configurations(count: int | None) -> None:
    joint = joint_of([TRAP_1[i] for i in (1, 1, 2, 0, 2)], TRAP_1, count)
    assert joint.entropy == pytest.approx(3 * math.log(2), abs=1e-9)
    np.testing.assert_allclose(joint.conditional_entropy(TRAP_1), [0, 0, math.log(2)] * 2, atol=1e-9)


def test_trap_01_log_probabilities_of_minus_infinity(xp: Backend) -> None:
    with np.errstate(divide="ignore"):
        logs = np.log(TRAP_1)
    for pool in (from_log_probs(xp.array(logs)), from_logits(xp.array(logs))):
        gains = numpy(BALD().gains(None, pool.take(np.arange(6))))
        # log ½ is not exact in half precision, and a row may then miss 1 by its rounding.
        np.testing.assert_allclose(gains, [0, math.log(2), 0] * 2, atol=max(xp.tolerance, 2e-2 * ("16" in xp.dtype)))


@pytest.mark.parametrize("count", [None, 64], ids=["exact", "sampled"])
@pytest.mark.parametrize(("dtype", "coins"), [("float32", 200), ("float64", 1_100)])
def test_trap_02_many_coins_do_not_underflow(dtype: str, coins: int, count: int | None) -> None:
    """A joint probability of 2^−200 or 2^−1100 is 0 in these dtypes; enumeration must not be of all of them."""
    coin = np.full((1, 3, 2), 0.5, dtype=dtype)
    if count is None:
        coins = 12
    joint = joint_of([coin[0]] * coins, coin, count)
    assert joint.entropy == pytest.approx(coins * math.log(2), rel=1e-12)
    other = dirichlet(1, 4, 3, 3).astype(dtype)
    # Coins tell nothing of the draws, so all is as if none had been chosen.
    np.testing.assert_allclose(joint.conditional_entropy(other), infoacq.entropy(other), atol=1e-5)


def test_trap_02_sixty_points_that_are_nearly_certain(maker: Backend) -> None:
    rare = np.broadcast_to([1e-6, 1 - 1e-6], (1, 3, 2))
    array = maker.array(rare)
    joint = joint_of([array[0, ...]] * 60, array, 64)
    assert joint.entropy == pytest.approx(60 * oracles.entropy([1e-6, 1 - 1e-6]), rel=1e-9)
    np.testing.assert_allclose(numpy(joint.draw_weights), 1 / 3, atol=1e-12)


def test_trap_02_sixty_rare_labels_that_tell_the_draws_apart() -> None:
    """Each point has probability about 1e-6 of its first label, more or less by the draw."""
    rare = np.array([1e-6, 2e-6, 5e-7])[None, :, None]
    p = np.concatenate([rare, 1 - rare], axis=2)
    selection = select_batch(np.repeat(p, 60, axis=0), BatchBALD(max_configurations=200), 60)
    each = oracles.bald(p[0].tolist())
    assert selection.gains[0] == pytest.approx(each, abs=1e-12)
    # So rare that a second one hardly ever happens: 60 points tell nearly 60 times as much, and never more.
    assert 58 * each < selection.scores[-1] <= 60 * each * (1 + 1e-6)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ((2, 1, 0), math.nan, r"candidate 2, draw 1 is not finite: .*Remove the candidate"),
        ((2, 1, 0), math.inf, r"candidate 2, draw 1 is not finite"),
        ((0, 3, 2), -0.25, r"candidate 0, draw 3 has negative entries.*infoacq\.from_logits"),
        ((5, 0, 1), 1.5, r"candidate 5, draw 0 sums to .* not to 1 within .*divide each row by its sum"),
    ],
)
def test_trap_03_bad_numbers_are_named(xp: Backend, entry: tuple, value: float, message: str) -> None:
    p = dyadic(3, *STANDARD)
    p[entry] = value
    with pytest.raises(ValueError, match=message):
        select_batch(xp.array(p), BALD(), 2)


@pytest.mark.usefixtures("untyped")
def test_trap_03_what_is_no_probability_is_told_where_to_go(xp: Backend) -> None:
    p = dirichlet(4, *STANDARD)
    for wrong, way_out in [(np.log(p), "from_log_probs"), (np.log(p) + 7, "from_logits"), (2 * p, "from_logits")]:
        with pytest.raises(ValueError, match=re.escape(f"infoacq.{way_out}")):
            from_probs(xp.array(wrong))
    with pytest.raises(ValueError, match=r"candidate \d, draw \d, class \d is .*logits to from_logits"):
        from_log_probs(xp.array(np.log(p) + 7))
    with pytest.raises(ValueError, match=r"exp\(log_probs\) must be probabilities; candidate 0, draw 0 sums to"):
        from_log_probs(xp.array(np.log(p) - 1))


@pytest.mark.usefixtures("untyped")
def test_trap_03_half_precision_rows_of_many_classes_are_taken_as_they_are(xp: Backend) -> None:
    p = xp.array(dirichlet(5, 2, 3, 1_000))
    rows = numpy(p).sum(axis=-1)
    assert xp.dtype == "float64" or np.abs(rows - 1).max() > 0
    kept = from_probs(p).take(np.arange(2)).predictions
    np.testing.assert_array_equal(numpy(kept), numpy(p))


def test_trap_04_half_precision_is_computed_in_float32_and_decided_in_float64(xp: Backend) -> None:
    p = dyadic(6, *STANDARD)
    got = select_batch(xp.array(p), BatchBALD(), 4, maximiser=Greedy())
    wanted = select_batch(p, BatchBALD(), 4, maximiser=Greedy())
    assert got.indices == wanted.indices
    assert got.scores == pytest.approx(wanted.scores, abs=xp.tolerance)
    assert {type(i) for i in got.indices} == {int}
    assert {type(gain) for gain in got.gains} == {float}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("classes", [10, 100, 1_000])
def test_trap_04_half_precision_log_probabilities_and_logits(dtype: str, classes: int) -> None:
    torch = pytest.importorskip("torch")
    p = dirichlet(7, 3, 4, classes)
    lp = torch.tensor(np.log(np.concatenate([p, np.full((1, 4, classes), 1 / classes)])), dtype=getattr(torch, dtype))
    for pool in (from_log_probs(lp), from_logits(lp)):
        selection = select_batch(pool, BatchBALD(100), 2, seed=0)
        assert selection.scores[-1] == pytest.approx(select_batch(p, BatchBALD(100), 2, seed=0).scores[-1], abs=2e-2)


@SATURATING
def test_trap_05_dependent_points_do_not_become_a_product_of_marginals(maker: Backend) -> None:
    """Points that all name the draw: together log K, as marginals n log K."""
    p = np.repeat(np.eye(4)[None], 6, axis=0)
    array = maker.array(p)
    for count in (None, 64):
        joint = joint_of([array[i, ...] for i in range(5)], array, count)
        assert joint.entropy == pytest.approx(math.log(4), abs=1e-12)
    selection = select_batch(array, BatchBALD(max_configurations=3), 6, seed=0, maximiser=Greedy())
    assert selection.scores == pytest.approx([math.log(4)] * 6, abs=1e-9)
    noisy = 0.7 * p[:4] + 0.075
    joint = joint_of(list(noisy), noisy, 200)
    wanted = oracles.joint_entropy(noisy.tolist())
    assert sum(map(oracles.predictive_entropy, noisy.tolist())) - wanted > 0.3
    assert abs(joint.entropy - wanted) <= 4 * joint.standard_error + 1e-9
