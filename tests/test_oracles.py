"""The oracles against values that are known without them."""

import math

import pytest

from tests import oracles

COIN = [[0.5, 0.5], [0.5, 0.5]]
TOLD = [[1.0, 0.0], [0.0, 1.0]]  # its label names the draw


def test_entropies_of_known_distributions() -> None:
    assert oracles.entropy([0.25] * 4) == pytest.approx(2 * math.log(2))
    assert oracles.entropy([1, 0]) == 0
    assert oracles.joint_entropy([]) == 0


def test_coins_add_up_and_a_told_draw_is_told_once() -> None:
    assert oracles.joint_entropy([COIN, COIN, COIN]) == pytest.approx(3 * math.log(2))
    assert oracles.joint_entropy([TOLD, TOLD]) == pytest.approx(math.log(2))
    assert oracles.batchbald([COIN, COIN]) == pytest.approx(0)
    assert oracles.batchbald([TOLD, TOLD, COIN]) == pytest.approx(math.log(2))
    assert oracles.conditional_entropy([TOLD], TOLD) == pytest.approx(0)


def test_mutual_information_of_a_noisy_channel() -> None:
    flip = 0.1
    noisy = [[1 - flip, flip], [flip, 1 - flip]]
    assert oracles.bald(noisy) == pytest.approx(math.log(2) - oracles.entropy([flip, 1 - flip]))


def test_appendix_c_with_every_labelling_in_its_share_is_the_enumeration() -> None:
    batch, last = [[[0.75, 0.25], [0.25, 0.75]], COIN], [[0.5, 0.5], [0.25, 0.75]]
    rows = [oracles.likelihoods(batch, labels) for labels in oracles.configurations(batch)]
    # Each of the four labellings has probability 1/4 here, so drawing each once is drawing in proportion.
    assert oracles.appendix_c(rows, last) == pytest.approx(oracles.joint_entropy([*batch, last]))


def test_best_batch_is_over_sets() -> None:
    assert oracles.best_batch([TOLD, TOLD, COIN], 2) == pytest.approx(math.log(2))


def test_splitmix64_is_the_published_sequence() -> None:
    # The first output for seed 0 of the reference implementation.
    assert oracles.splitmix64(0, 0) == pytest.approx(0xE220A8397B1DCDAF / 2**64)
