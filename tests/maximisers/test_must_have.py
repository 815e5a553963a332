import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, TopK, select_batch
from infoacq.maximisers import MustHave, PowerSampling
from infoacq.objectives import EPIG
from infoacq.wrappers import AtMostPerGroup, Budget, Constrained
from tests.oracles import batchbald
from tests.predictions import dirichlet

PROBS = dirichlet(0, 9, 5, 3, 0.5)


@pytest.mark.parametrize("maximiser", [LazyGreedy(), Greedy()])
def test_they_come_first_with_their_gains_and_the_rest_is_chosen_given_them(maximiser):
    chosen = select_batch(PROBS, BatchBALD(), 5, maximiser=MustHave([7, 2], maximiser))
    given = select_batch(PROBS, BatchBALD(), 3, pending=[7, 2])
    assert chosen.indices == [7, 2, *given.indices]
    assert chosen.scores == pytest.approx([batchbald(PROBS[chosen.indices[: i + 1]].tolist()) for i in range(5)])


def test_other_maximisers_and_objectives():
    assert select_batch(PROBS, BALD(), 9, maximiser=MustHave([4], TopK())).indices[0] == 4
    drawn = select_batch(PROBS, BALD(), 9, maximiser=MustHave([4, 0], PowerSampling()), seed=0)
    assert drawn.indices[:2] == [4, 0]
    assert sorted(drawn.indices) == list(range(9))
    aimed = select_batch(PROBS, EPIG(dirichlet(1, 2, 5, 2)), 3, maximiser=MustHave([4], Greedy()))
    assert aimed.indices[0] == 4
    with pytest.raises(ValueError, match="LazyGreedy needs a submodular objective"):
        select_batch(PROBS, EPIG(dirichlet(1, 2, 5, 2)), 3, maximiser=MustHave([4]))


def test_a_batch_of_just_these():
    chosen = select_batch(PROBS, BatchBALD(), 2, maximiser=MustHave([8, 1]))
    assert chosen.indices == [8, 1]
    assert chosen.evaluations == 2
    assert (
        select_batch(PROBS, BatchBALD(), 2, maximiser=MustHave([])).indices
        == select_batch(PROBS, BatchBALD(), 2).indices
    )


def test_their_estimates_have_standard_errors():
    chosen = select_batch(PROBS, BatchBALD(max_configurations=20), 5, maximiser=MustHave([3, 1, 4, 0]), seed=0)
    assert chosen.standard_errors[0] == 0
    assert chosen.standard_errors[3] > 0


def test_they_count_in_groups_and_budgets():
    groups = Constrained(BatchBALD(), [AtMostPerGroup([0, 0, 0, 1, 1, 1, 2, 2, 2])])
    assert {i // 3 for i in select_batch(PROBS, groups, 3, maximiser=MustHave([4])).indices} == {0, 1, 2}
    within = Constrained(BatchBALD(), [Budget([1.0] * 9, 3.0)])
    assert len(select_batch(PROBS, within, 9, maximiser=MustHave([4, 5]))) == 3


def test_pending_candidates_come_before():
    chosen = select_batch(PROBS, BatchBALD(), 3, pending=[0], maximiser=MustHave([5]))
    assert chosen.indices[0] == 5
    assert chosen.gains[0] == pytest.approx(batchbald(PROBS[[0, 5]].tolist()) - batchbald(PROBS[[0]].tolist()))
    assert 0 not in chosen.indices


def test_what_may_not_be_had_cannot_be_one_that_must():
    with pytest.raises(ValueError, match=r"candidate 0 must be had, and BatchBALD rules it out"):
        select_batch(PROBS, BatchBALD(), 3, pending=[0], maximiser=MustHave([0]))
    twice = Constrained(BatchBALD(), [AtMostPerGroup([0] * 9)])
    with pytest.raises(ValueError, match=r"candidate 2 must be had, and Constrained\(BatchBALD\) rules it out"):
        select_batch(PROBS, twice, 3, maximiser=MustHave([1, 2]))


def test_positions_are_several_and_can_be_gone_through_again(untyped):
    with pytest.raises(TypeError, match="positions that must be had must be a list: an iterator is empty after"):
        MustHave(iter([1]))
    with pytest.raises(TypeError, match=r"positions that must be had must be several, such as \[3, 5\]; got 3"):
        MustHave(3)
    with pytest.raises(TypeError, match=r"Write Greedy\(\)"):
        MustHave([1], Greedy)


@pytest.mark.parametrize(
    ("positions", "message"),
    [([9], "must lie in 0 … 8"), ([1, 1], "must not come twice"), ([0, 1, 2], "must be at most 2")],
)
def test_wrong_positions_are_refused(positions, message):
    with pytest.raises(ValueError, match=message):
        select_batch(PROBS, BatchBALD(), 2, maximiser=MustHave(positions))
