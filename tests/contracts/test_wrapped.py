"""Every objective inside costs, constraints and sums, within each other, against greedy choice by plain enumeration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from infoacq import Greedy, LazyGreedy, select_batch
from infoacq.maximisers import BudgetedGreedy, MustHave
from infoacq.objective import is_submodular
from infoacq.objectives import Scores
from infoacq.wrappers import AtMostPerGroup, Budget, Constrained, CostAware, MustNotHave, WeightedSum
from tests.contracts.other_pools import OTHERS
from tests.contracts.table import OBJECTIVES
from tests.predictions import dyadic

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
SIZE, BUDGET, PICKS = 9, 6.0, 3
COST = [3.0, 1.0, 2.5, 1.5, 4.0, 1.25, 2.0, 0.75, 1.0]
GROUPS = ["a", "b", "c", "a", "b", "c", "a", "a", "d"]
PROBS = dyadic(31, SIZE, 4, 3)
SCORE = np.linspace(0.3, 0.0, SIZE)
Value = Callable[[Sequence[int]], float]
Allowed = Callable[[Sequence[int]], bool]


@dataclass(frozen=True)
class Case:
    """A pool, an objective that reads it, and the value of a batch of positions by the oracle."""

    name: str
    pool: Any
    objective: Any
    value: Value


CASES = [
    Case(row.name, PROBS, row.objective, lambda batch, row=row: row.value(PROBS.tolist(), list(batch)))
    for row in OBJECTIVES
    if not row.sampled and row.name != "Random"
] + [Case(row.name, row.pool(np.asarray), row.make(np.asarray), row.value) for row in OTHERS]
EVERY = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def in_groups(batch: Sequence[int]) -> bool:
    names = [GROUPS[i] for i in batch]
    return len(set(names)) == len(names)


def in_budget(batch: Sequence[int]) -> bool:
    return sum(COST[i] for i in batch) <= BUDGET


def all_but_7(batch: Sequence[int]) -> bool:
    return 7 not in batch


def greedily(value: Value, allowed: Allowed, cost: Sequence[float], before: Sequence[int] = ()) -> list[int]:
    """Greedy choice of at most 3, given some; of equal ones the lowest position."""
    chosen = list(before)
    while len(chosen) < PICKS + len(before):
        worth = {
            n: (round((value([*chosen, n]) - value(chosen)) / cost[n], 7), -n)
            for n in range(SIZE)
            if n not in chosen and allowed([*chosen, n])
        }
        if not worth:
            break
        chosen.append(max(worth, key=worth.__getitem__))
    return chosen[len(before) :]


ALIKE = [1.0] * SIZE
RULES = [AtMostPerGroup(GROUPS), MustNotHave([7])]
WRAPPED: dict[str, tuple[Callable[[Any], Any], Allowed, Sequence[float]]] = {
    "cost": (lambda o: CostAware(o, COST), lambda batch: True, COST),
    "groups": (lambda o: Constrained(o, RULES), lambda b: in_groups(b) and all_but_7(b), ALIKE),
    "cost in budget": (lambda o: Constrained(CostAware(o, COST), [Budget(COST, BUDGET)]), in_budget, COST),
    "groups in cost": (lambda o: CostAware(Constrained(o, RULES[:1]), COST), in_groups, COST),
}


@pytest.mark.parametrize("pending", [[], [4, 0]], ids=["", "pending"])
@pytest.mark.parametrize("name", WRAPPED)
@EVERY
def test_costs_and_constraints_around_every_objective(case: Case, name: str, pending: list[int]) -> None:
    wrap, allowed, cost = WRAPPED[name]
    wanted = greedily(case.value, allowed, cost, before=pending)
    given, before = pending, case.value(pending)
    for maximiser in [Greedy(), LazyGreedy(1)] if is_submodular(case.objective) else [None, Greedy()]:
        if not wanted:  # the pending ones have spent the budget
            with pytest.raises(ValueError, match=r"Constrained\(.*rules out"):
                select_batch(case.pool, wrap(case.objective), PICKS, maximiser=maximiser, pending=pending, seed=0)
            continue
        chosen = select_batch(case.pool, wrap(case.objective), PICKS, maximiser=maximiser, pending=pending, seed=0)
        assert chosen.indices == wanted
        assert chosen.scores[-1] == pytest.approx(case.value([*given, *wanted]) - before, abs=1e-6)


@pytest.mark.parametrize("pending", [[], [4, 0]], ids=["", "pending"])
@EVERY
def test_sums_with_every_objective(case: Case, pending: list[int]) -> None:
    def value(batch: Sequence[int]) -> float:
        return 0.5 * case.value(batch) - 2.0 * sum(SCORE[i] for i in batch)

    total = WeightedSum((case.objective, Scores(lambda candidates: SCORE[candidates.index])), (0.5, -2.0))
    chosen = select_batch(case.pool, Constrained(total, RULES[:1]), PICKS, pending=pending, seed=0)
    assert chosen.indices == greedily(value, in_groups, ALIKE, before=pending)
    assert chosen.scores[-1] == pytest.approx(value([*pending, *chosen.indices]) - value(pending), abs=1e-6)


@EVERY
def test_a_budget_with_every_objective(case: Case) -> None:
    """The better of both greedy batches by enumeration, with and without one that must be had."""
    for must in ([], [8]):
        both = [[*must, *greedily(case.value, in_budget, cost, before=must)][:PICKS] for cost in (ALIKE, COST)]
        worths = [case.value(batch) for batch in both]
        maximiser = BudgetedGreedy(COST, BUDGET, MustHave(must, Greedy()))
        chosen = select_batch(case.pool, case.objective, PICKS, maximiser=maximiser, seed=0)
        assert chosen.indices in [batch for batch, w in zip(both, worths, strict=True) if w >= max(worths) - 1e-6]
        assert chosen.scores[-1] == pytest.approx(max(worths), abs=1e-6)


@EVERY
def test_what_must_be_had_with_every_objective(case: Case) -> None:
    chosen = select_batch(case.pool, case.objective, 2 + PICKS, maximiser=MustHave([6, 1], Greedy()), seed=0)
    assert chosen.indices == [6, 1, *greedily(case.value, lambda batch: True, ALIKE, before=[6, 1])]
    assert chosen.scores == pytest.approx([case.value(chosen.indices[: i + 1]) for i in range(5)], abs=1e-6)
