"""Traps 11 to 16: repeats, sizes, the first pick, lazy evaluation, pending points."""

import math
from typing import Any

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, TopK, select_batch
from infoacq.maximisers import PowerSampling, SoftmaxSampling
from tests import oracles
from tests.backends import Backend
from tests.predictions import STANDARD, dirichlet, dyadic

SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")


def test_trap_11_two_alike_can_be_chosen_together_but_no_index_twice(maker: Backend) -> None:
    """Two copies of a noisy but telling point against one that tells hardly anything."""
    telling, dull = [[0.8, 0.2], [0.2, 0.8]], [[0.52, 0.48], [0.48, 0.52]]
    pool = [dull, telling, telling]
    selection = select_batch(maker.array(pool), BatchBALD(), 2)
    assert selection.indices == [1, 2]
    assert selection.scores[-1] == pytest.approx(oracles.batchbald([telling, telling]), abs=1e-9)
    assert oracles.batchbald([telling, telling]) > oracles.batchbald([telling, dull])


@SATURATING
def test_trap_11_no_repeats_when_nothing_is_gained(xp: Backend) -> None:
    p = xp.array(np.broadcast_to([0.5, 0.5, 0], STANDARD))
    for objective, maximiser in [(BALD(), TopK()), (BALD(), LazyGreedy()), (BatchBALD(), Greedy())]:
        selection = select_batch(p, objective, 6, maximiser=maximiser)
        assert selection.indices == [0, 1, 2, 3, 4, 5]
        assert selection.gains == pytest.approx([0] * 6, abs=1e-6)


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(
    ("size", "message"),
    [
        (0, "batch_size must be at least 1; got 0"),
        (-3, "batch_size must be at least 1; got -3"),
        (7, r"batch_size must be at most the 6 candidates left in the pool; got 7.*batch_size=6 to take them all"),
    ],
)
def test_trap_12_batches_of_other_sizes_are_errors(size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        select_batch(dirichlet(0, *STANDARD), BALD(), size)


@pytest.mark.usefixtures("untyped")
def test_trap_12_what_pending_points_leave() -> None:
    p = dirichlet(0, *STANDARD)
    with pytest.raises(ValueError, match=r"at most the 4 candidates left in the pool \(6 less 2 pending\); got 5"):
        select_batch(p, BALD(), 5, pending=[0, 3])
    with pytest.raises(ValueError, match=r"no candidate left to choose \(6 less 6 pending\)"):
        select_batch(p, BALD(), 1, pending=range(6))


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize(("shape", "word"), [((0, 4, 3), "candidates"), ((6, 0, 3), "draws"), ((6, 4, 0), "classes")])
def test_trap_12_an_empty_axis_is_an_error_that_names_it(xp: Backend, shape: tuple[int, ...], word: str) -> None:
    with pytest.raises(ValueError, match=f"which holds no {word}"):
        select_batch(xp.array(np.zeros(shape)), BALD(), 1)


@SATURATING
@pytest.mark.parametrize("shape", [(1, 4, 3), (6, 1, 3), (6, 4, 1), (1, 1, 1)])
def test_trap_12_one_candidate_one_draw_one_class(shape: tuple[int, int, int]) -> None:
    p = dirichlet(12, *shape)
    size = min(3, shape[0])
    for objective in (BALD(), BatchBALD(), BatchBALD(max_configurations=2)):
        selection = select_batch(p, objective, size, seed=0)
        assert len(set(selection.indices)) == size
        assert selection.gains[0] == pytest.approx(max(map(oracles.bald, p.tolist())), abs=1e-12)
        if 1 in shape[1:]:
            assert selection.scores == pytest.approx([0.0] * size, abs=1e-12)


def test_trap_13_the_first_pick_is_balds_and_ties_go_to_the_lowest_index(xp: Backend) -> None:
    p = dyadic(13, *STANDARD)
    bald = [oracles.bald(point) for point in p.tolist()]
    p[[1, 4]] = p[int(np.argmax(bald))]
    bald = [oracles.bald(point) for point in p.tolist()]
    first = next(i for i, value in enumerate(bald) if value >= max(bald) - 1e-12)
    for objective, maximiser in [(BALD(), TopK()), (BatchBALD(), Greedy()), (BatchBALD(), LazyGreedy())]:
        selection = select_batch(xp.array(p), objective, 3, maximiser=maximiser)
        assert selection.indices[0] == first
        assert selection.gains[0] == pytest.approx(max(bald), abs=xp.tolerance)


def test_trap_13_indices_come_in_pick_order() -> None:
    p = dirichlet(13, 20, 6, 3, 0.4)
    bald = np.array([oracles.bald(point) for point in p.tolist()])
    assert select_batch(p, BALD(), 20).indices == np.argsort(-bald, kind="stable").tolist()
    gains = select_batch(p, BatchBALD(), 4).gains
    assert gains == sorted(gains, reverse=True)


@SATURATING
@pytest.mark.parametrize("first", [1, 2, 64])
@pytest.mark.parametrize("p", [np.full((30, 4, 2), 0.5), np.repeat(dirichlet(1, 1, 4, 3), 30, axis=0)])
def test_trap_14_lazy_evaluation_ends_and_equals_greedy_under_zeros_and_ties(p: np.ndarray, first: int) -> None:
    objective = BatchBALD(100_000)  # enumerated: of sampled gains old ones are bounds up to noise only
    greedy = select_batch(p, objective, 10, maximiser=Greedy())
    assert select_batch(p, objective, 10, maximiser=LazyGreedy(first)).indices == greedy.indices == list(range(10))


class NotANumber:
    """BALD, and NaN for candidate 2."""

    submodular = True

    def init(self, pool: Any) -> None: ...

    def gains(self, state: None, candidates: Any) -> np.ndarray:
        gains = np.array(BALD().gains(None, candidates))
        gains[candidates.index == 2] = math.nan
        return gains

    def update(self, state: None, chosen: Any, rng: Any) -> None: ...


@pytest.mark.parametrize("maximiser", [None, Greedy(), LazyGreedy(1)])
def test_trap_14_an_objective_that_returns_nan_is_an_error(maximiser: Any) -> None:
    with pytest.raises(ValueError, match=r"NotANumber\.gains returned nan for candidate 2"):
        select_batch(dirichlet(0, *STANDARD), NotANumber(), 2, maximiser=maximiser)


@pytest.mark.parametrize("maximiser", [PowerSampling(), SoftmaxSampling()])
def test_trap_15_sampling_copes_with_zeros_and_fewer_positive_scores_than_the_batch(maximiser: Any) -> None:
    p = np.concatenate([np.full((8, 4, 3), 1 / 3), dirichlet(15, 2, 4, 3, 0.2)])
    selection = select_batch(p, BALD(), 6, maximiser=maximiser, seed=0)
    assert len(set(selection.indices)) == 6
    if isinstance(maximiser, PowerSampling):
        assert set(selection.indices[:2]) == {8, 9}, "candidates of score 0 come last"


def test_trap_16_pending_points_are_conditioned_on_and_never_returned(xp: Backend) -> None:
    p = dyadic(16, *STANDARD)
    selection = select_batch(xp.array(p), BatchBALD(), 2, pending=[4, 1], maximiser=Greedy())
    assert not {1, 4} & set(selection.indices)
    before = [p[4].tolist(), p[1].tolist()]
    gains = {n: oracles.batchbald([*before, p[n].tolist()]) - oracles.batchbald(before) for n in (0, 2, 3, 5)}
    assert selection.gains[0] == pytest.approx(max(gains.values()), abs=10 * xp.tolerance)
    assert gains[selection.indices[0]] == pytest.approx(max(gains.values()), abs=10 * xp.tolerance)
