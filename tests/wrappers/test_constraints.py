from itertools import combinations

import numpy as np
import pytest

from infoacq import BALD, BatchBALD, Greedy, LazyGreedy, PredictiveEntropy, Random, from_probs, select_batch
from infoacq.maximisers import PowerSampling, RacingGreedy
from infoacq.objectives import EPIG
from infoacq.wrappers import AtMostPerGroup, Budget, Constrained, CostAware, MustNotHave
from tests.oracles import batchbald
from tests.predictions import dirichlet

pytestmark = pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
GROUPS = ["a", "a", "a", "b", "b", "c", "a", "b"]


def greedy_by_brute_force(probs, size, allowed):
    """Positions by the largest information, of those that `allowed` leaves."""
    batch = []
    while len(batch) < size:
        left = [j for j in range(len(probs)) if j not in batch and allowed([*batch, j])]
        if not left:
            break
        batch.append(max(left, key=lambda j: batchbald(probs[[*batch, j]].tolist())))
    return batch


def at_most(most):
    return lambda batch: all(sum(GROUPS[i] == g for i in batch) <= most for g in GROUPS)


@pytest.mark.parametrize("maximiser", [None, Greedy(), LazyGreedy(), LazyGreedy(first=1)])
@pytest.mark.parametrize("most", [1, 2])
def test_at_most_so_many_of_each_group(maximiser, most):
    probs = dirichlet(0, 8, 5, 3, 0.5)
    objective = Constrained(BatchBALD(), [AtMostPerGroup(GROUPS, most)])
    chosen = select_batch(probs, objective, 5, maximiser=maximiser)
    assert chosen.indices == greedy_by_brute_force(probs, 5, at_most(most))
    np.testing.assert_allclose(chosen.scores[-1], batchbald(probs[chosen.indices].tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_greedy_under_groups_reaches_half_of_the_best_batch(seed):
    probs = dirichlet(seed, 8, 5, 2, 0.3)
    chosen = select_batch(probs, Constrained(BatchBALD(), [AtMostPerGroup(GROUPS)]), 3)
    best = max(batchbald(probs[list(b)].tolist()) for b in combinations(range(8), 3) if at_most(1)(b))
    assert best / 2 <= chosen.scores[-1] <= best + 1e-9


def test_groups_of_any_kind():
    probs = dirichlet(1, 8, 5, 3)
    numbers = [GROUPS.index(g) for g in GROUPS]
    for groups in (GROUPS, np.array(GROUPS), numbers, np.array(numbers), tuple(GROUPS)):
        chosen = select_batch(probs, Constrained(BALD(), [AtMostPerGroup(groups)]), 3)
        assert {GROUPS[i] for i in chosen.indices} == {"a", "b", "c"}


def test_a_selection_ends_when_every_group_is_full():
    for maximiser in (None, Greedy(), PowerSampling()):
        objective = Constrained(BALD(), [AtMostPerGroup(GROUPS)])
        assert len(select_batch(dirichlet(2, 8, 4, 3), objective, 6, maximiser=maximiser, seed=0)) == 3


def test_the_budget_is_kept_and_smaller_candidates_still_fit():
    probs = dirichlet(3, 8, 5, 3, 0.5)
    cost = [5.0, 1.0, 4.0, 2.0, 3.0, 1.0, 2.0, 9.0]
    for budget in (1.0, 4.0, 7.0, 30.0):
        chosen = select_batch(probs, Constrained(BatchBALD(), [Budget(cost, budget)]), 8)
        wanted = greedy_by_brute_force(probs, 8, lambda batch, b=budget: sum(cost[i] for i in batch) <= b)
        assert chosen.indices == wanted


def test_a_budget_of_three_tenths_pays_for_three_of_one_tenth():
    assert len(select_batch(dirichlet(4, 5, 4, 3), Constrained(BALD(), [Budget([0.1] * 5, 0.3)]), 5)) == 3


def test_must_not_have():
    probs = dirichlet(5, 8, 4, 3)
    first = select_batch(probs, BALD(), 3).indices
    rest = select_batch(probs, Constrained(BALD(), [MustNotHave(first)]), 5).indices
    assert sorted(first + rest) == list(range(8))
    assert select_batch(probs, BALD(), 8).indices == first + rest


def test_constraints_together():
    probs, cost = dirichlet(6, 8, 5, 3, 0.5), [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]
    rules = [AtMostPerGroup(GROUPS, 2), Budget(cost, 5.0), MustNotHave([0])]
    chosen = select_batch(probs, Constrained(BatchBALD(), rules), 5)

    def allowed(batch):
        return at_most(2)(batch) and sum(cost[i] for i in batch) <= 5 and 0 not in batch

    assert chosen.indices == greedy_by_brute_force(probs, 5, allowed)


def test_pending_candidates_count_in_their_group_and_in_the_budget():
    probs = dirichlet(7, 8, 5, 3)
    groups = select_batch(probs, Constrained(BatchBALD(), [AtMostPerGroup(GROUPS)]), 3, pending=[0, 3, 4])
    assert groups.indices == [5]
    assert groups.conditioned == pytest.approx(batchbald(probs[[0, 3]].tolist()))
    money = select_batch(probs, Constrained(BatchBALD(), [Budget([1.0] * 8, 3.0)]), 5, pending=[0, 1])
    assert len(money) == 1


def test_nothing_to_choose_is_an_error():
    with pytest.raises(ValueError, match=r"Constrained\(BALD\) rules out \(gain −inf\) every candidate"):
        select_batch(dirichlet(8, 3, 4, 3), Constrained(BALD(), [MustNotHave([0, 1, 2])]), 1)


def test_what_a_constrained_objective_says_of_itself():
    rules = [MustNotHave([0])]
    assert Constrained(BatchBALD(), rules).submodular
    assert Constrained(BALD(), rules).submodular
    assert not Constrained(EPIG(dirichlet(9, 2, 3, 2)), rules).submodular
    assert not hasattr(Constrained(BALD(), rules), "modular")
    probs = from_probs(dirichlet(9, 4, 3, 2))
    chosen = select_batch(probs, Constrained(BatchBALD(), rules), 1)
    assert (chosen.unit, chosen.limit) == ("nats", pytest.approx(np.log(3)))
    assert select_batch(probs, Constrained(PredictiveEntropy(), rules), 1).limit is None


def test_a_race_under_constraints_chooses_what_greedy_does():
    # Enough configurations for a race on a sample of them, and groups that fill while it runs.
    probs = dirichlet(13, 400, 12, 5, 0.3)
    objective = Constrained(BatchBALD(max_configurations=2_000), [AtMostPerGroup(np.arange(400) % 7)])
    raced, plain = (select_batch(probs, objective, 6, maximiser=m, seed=0) for m in (RacingGreedy(first=8), Greedy()))
    assert raced.indices == plain.indices
    assert raced.gains == pytest.approx(plain.gains)
    assert len({i % 7 for i in raced.indices}) == 6
    with pytest.raises(ValueError, match="RacingGreedy needs an objective with sketch"):
        select_batch(probs, Constrained(BALD(), []), 2, maximiser=RacingGreedy())


def test_gains_stay_on_their_backend_and_random_is_seeded():
    torch = pytest.importorskip("torch")
    of_tensors = Constrained(BALD(), [AtMostPerGroup(torch.tensor([0, 0, 1, 1]))])
    assert {i // 2 for i in select_batch(dirichlet(1, 4, 5, 3), of_tensors, 2).indices} == {0, 1}
    pool = from_probs(torch.tensor(dirichlet(10, 30, 3, 2)))
    objective = Constrained(BatchBALD(), [MustNotHave([2])])
    gains = objective.gains(objective.init(pool), pool.take(np.arange(4)))
    assert isinstance(gains, torch.Tensor)
    assert gains[2] == -np.inf
    batches = [select_batch(pool, Constrained(Random(), [MustNotHave([2])]), 5, seed=s).indices for s in (0, 0, 1)]
    assert batches[0] == batches[1] != batches[2]


def test_sampled_gains_keep_their_standard_errors():
    probs, objective = dirichlet(11, 10, 6, 3, 0.5), BatchBALD(max_configurations=20)
    plain, under = (select_batch(probs, o, 5, seed=0) for o in (objective, Constrained(objective, [])))
    assert plain == under
    assert under.standard_errors[-1] > 0


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: Budget([1.0, 0.0], 1.0), ValueError, "cost must be above 0 for each candidate; candidate 1 costs 0"),
        (lambda: Budget([1.0, np.inf], 1.0), ValueError, "cost must be finite; number 1 is inf"),
        (lambda: Budget([[1.0]], 1.0), ValueError, "cost must be one row of numbers"),
        (lambda: Budget(["x"], 1.0), TypeError, "cost must be several numbers"),
        (lambda: Budget([1.0], 0.0), ValueError, "budget must be a finite number above 0; got 0"),
        (lambda: AtMostPerGroup(["a"], 0), ValueError, "most must be at least 1; got 0"),
        (lambda: Constrained(BALD, []), TypeError, r"Write BALD\(\)"),
        (lambda: Constrained(BALD(), [MustNotHave]), TypeError, r"Write MustNotHave\(...\)"),
        (lambda: Constrained(BALD(), [BALD()]), TypeError, "It lacks ruled_out"),
        (lambda: Constrained(BALD(), MustNotHave([0])), TypeError, "constraints must be several, such as"),
        (lambda: Constrained(BALD(), iter([MustNotHave([0])])), TypeError, "an iterator is empty after its first use"),
        (lambda: MustNotHave(iter([0])), TypeError, r"positions that must not be had must be a list.* Write list"),
        (lambda: Budget([1.0, 2.0], 0.9), ValueError, "to pay for the cheapest candidate,.* at least 1; got 0.9"),
        (lambda: AtMostPerGroup(None), TypeError, "groups must be several"),
        (lambda: AtMostPerGroup(np.zeros((4, 2))), TypeError, "one name .* for each candidate; got array"),
        (lambda: AtMostPerGroup([1.0, float("nan")]), ValueError, "groups must not be NaN: candidate 1 has no group"),
    ],
)
def test_bad_constraints_are_refused_at_once(untyped, make, kind, message):
    with pytest.raises(kind, match=message):
        make()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (AtMostPerGroup(["a", "b"]), "groups must hold one entry for each of the 4 candidates of the pool; got 2"),
        (Budget([1.0], 1.0), "cost must hold one entry for each of the 4 candidates of the pool; got 1"),
        (MustNotHave([4]), "positions that must not be had must lie in 0 … 3"),
    ],
)
def test_a_constraint_of_another_pool_is_refused(rule, message):
    for objective in (Constrained(BALD(), [rule]), CostAware(Constrained(BALD(), [rule]), [1.0] * 4)):
        with pytest.raises(ValueError, match=message):
            select_batch(dirichlet(12, 4, 3, 2), objective, 1)
