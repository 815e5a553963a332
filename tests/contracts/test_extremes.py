"""Probabilities of 0 and 1, ties, nothing to gain, and objectives that go wrong."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from infoacq import BALD, Candidates, Greedy, LazyGreedy, TopK, select_batch
from tests.contracts.table import GREEDY_PAIRS, MAXIMISERS, OBJECTIVES, PAIRS, ObjectiveRow
from tests.predictions import dirichlet

CERTAIN = np.eye(3)[np.random.default_rng(1).integers(0, 3, size=(7, 4))]
NO_DISAGREEMENT = np.repeat(dirichlet(1, 7, 1, 3), 4, axis=1)
ALL_ALIKE = np.repeat(dirichlet(2, 1, 4, 3), 7, axis=0)
SATURATING = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
MODES = [TopK(), Greedy(), LazyGreedy(), LazyGreedy(first=1)]


@SATURATING
@pytest.mark.parametrize(("row", "maximiser"), PAIRS)
@pytest.mark.parametrize("p", [CERTAIN, NO_DISAGREEMENT, ALL_ALIKE], ids=["certain", "agreeing", "alike"])
def test_no_index_twice_and_every_number_finite(p: np.ndarray, row: ObjectiveRow, maximiser: Any) -> None:
    selection = select_batch(p, row.objective, 7, maximiser=maximiser, seed=0)
    assert sorted(selection.indices) == list(range(7))
    assert np.isfinite([*selection.gains, *selection.scores, *selection.standard_errors]).all()


@SATURATING
@pytest.mark.parametrize("row", [r for r in OBJECTIVES if not r.sampled], ids=str)
def test_certain_predictions_are_worth_what_the_enumeration_says(row: ObjectiveRow) -> None:
    selection = select_batch(CERTAIN, row.objective, 4, maximiser=Greedy(), seed=0)
    assert selection.scores[-1] == pytest.approx(row.value(CERTAIN.tolist(), selection.indices), abs=1e-12)


@SATURATING
@pytest.mark.parametrize(("row", "maximiser"), [p for p in GREEDY_PAIRS if not p.values[0].by_position])
def test_equal_candidates_are_taken_from_the_lowest_index_on(row: ObjectiveRow, maximiser: Any) -> None:
    assert select_batch(ALL_ALIKE, row.objective, 5, maximiser=maximiser, seed=0).indices == [0, 1, 2, 3, 4]


@dataclass(frozen=True)
class Faulty:
    """BALD, but for one candidate, once some are chosen."""

    value: float
    after: int = 0
    which: int = 3
    modular: ClassVar[bool] = True

    def init(self, pool: Any) -> int:
        return 0

    def gains(self, state: int, candidates: Candidates) -> np.ndarray:
        gains = np.array(BALD().gains(None, candidates))
        gains[(candidates.index == self.which) & (state >= self.after)] = self.value
        return gains

    def update(self, state: int, chosen: Candidates, rng: np.random.Generator) -> int:
        return state + 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("maximiser", MODES, ids=repr)
def test_a_gain_that_is_no_number_is_an_error_that_names_the_candidate(maximiser: Any, value: float) -> None:
    with pytest.raises(ValueError, match=rf"Faulty\.gains returned {value} for candidate 3 \(1 such"):
        select_batch(dirichlet(3, 6, 4, 3), Faulty(value), 3, maximiser=maximiser)


@pytest.mark.parametrize("maximiser", MODES[1:], ids=repr)
def test_a_gain_that_is_no_number_later_on_is_an_error_too(maximiser: Any) -> None:
    p = dirichlet(3, 6, 4, 3)
    which = int(np.argsort(BALD().gains(None, Candidates(np.arange(6), p)))[-2])  # next in line, so lazy looks at it
    with pytest.raises(ValueError, match=f"candidate {which}"):
        select_batch(p, Faulty(np.nan, after=1, which=which), 3, maximiser=maximiser)


@pytest.mark.parametrize("maximiser", MODES, ids=repr)
def test_a_candidate_that_is_ruled_out_is_not_chosen(maximiser: Any) -> None:
    p = dirichlet(3, 6, 4, 3)
    assert 3 not in select_batch(p, Faulty(-np.inf), 5, maximiser=maximiser).indices
    assert sorted(select_batch(p, Faulty(-np.inf), 6, maximiser=maximiser).indices) == [0, 1, 2, 4, 5]


def test_the_table_has_every_public_objective_and_maximiser() -> None:
    from infoacq import maximisers, objectives

    named = {type(getattr(row.objective, "inner", row.objective)).__name__ for row in OBJECTIVES}
    # Those that read pools of another kind are held against dense determinants and enumeration in tests/objectives/.
    reads = {name: getattr(getattr(objectives, name), "outcome", "classes") for name in objectives.__all__}
    assert {name for name, outcome in reads.items() if outcome in ("classes", "any")} <= named
    # These two run another maximiser under a budget or around a list: tests/maximisers/ has tests of their own.
    around_another = {"BudgetedGreedy", "MustHave"}
    assert set(maximisers.__all__) - around_another <= {type(row.maximiser).__name__ for row in MAXIMISERS}
