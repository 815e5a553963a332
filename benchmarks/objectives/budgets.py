"""Information per budget, per group and per pass, on predictions of digits: no labels are needed to compare these."""

from typing import Any

import numpy as np

from benchmarks.objectives.digits import Posterior, digits, probs, split
from benchmarks.objectives.learning import Row, summary
from infoacq import BALD, BatchBALD, LazyGreedy, Objective, from_probs, select_batch
from infoacq.maximisers import BudgetedGreedy, MustHave, SieveStreaming
from infoacq.pool import Pool
from infoacq.wrappers import AtMostPerGroup, Budget, Constrained, CostAware

INFORMATION = BatchBALD(max_configurations=2_000)
BUDGET = 8.0


def predicted(seed: int, copies: int = 1) -> Pool:
    """Predictions of 400 digits under 400 draws, from 20 labels; or of fewer, in so many noisy copies each."""
    apart, rng = split(digits(), seed), np.random.default_rng(seed)
    images = np.repeat(apart.pool.images[: 400 // copies], copies, axis=0)
    noisy = images + 0.03 * rng.standard_normal(images.shape)
    return from_probs(probs(Posterior.fit(apart.labelled).draws(400, seed), noisy).astype(np.float32))


def costs(seeds: int) -> list[Row]:
    """Nats for a budget of 8, where a label costs from 1 to 10."""
    found: dict[str, list[float]] = {"BatchBALD until the budget is spent": [], "CostAware": [], "BudgetedGreedy": []}
    for seed in range(seeds):
        pool, cost = predicted(seed), np.random.default_rng(seed).uniform(1, 10, 400)
        within = [Budget(cost, BUDGET)]
        plain = select_batch(pool, Constrained(INFORMATION, within), 8, seed=seed)
        per_cost = select_batch(pool, Constrained(CostAware(INFORMATION, cost), within), 8, seed=seed)
        both = select_batch(pool, INFORMATION, 8, maximiser=BudgetedGreedy(cost, BUDGET), seed=seed)
        for name, chosen in zip(found, (plain, per_cost, both), strict=True):
            found[name].append(chosen.scores[-1])
    return rows_of("nats", found)


def groups(seeds: int) -> list[Row]:
    """Nats of five labels together, and how many groups they are of; groups are 4 noisy copies of 100 images."""
    found: dict[str, list[list[int]]] = {"BALD": [], "BALD, at most one a group": [], "BatchBALD": []}
    group, worth = np.arange(400) // 4, dict[str, list[float]]()
    for seed in range(seeds):
        pool = predicted(seed, copies=4)
        objectives: list[Objective[Any]] = [BALD(), Constrained(BALD(), [AtMostPerGroup(group)]), INFORMATION]
        for name, objective in zip(found, objectives, strict=True):
            chosen = select_batch(pool, objective, 5, seed=seed).indices
            found[name].append(chosen)
            together = select_batch(pool, INFORMATION, 5, maximiser=MustHave(chosen), seed=seed)
            worth.setdefault(name, []).append(together.scores[-1])
    return [
        {"chooser": name, **summary({"nats": worth[name], "groups": [float(len(set(group[c]))) for c in chosen_each]})}
        for name, chosen_each in found.items()
    ]


def stream(seeds: int) -> list[Row]:
    """Nats of five labels from one pass in the pool's order, and from greedy choice."""
    found: dict[str, list[float]] = {"LazyGreedy": [], "SieveStreaming(0.2)": [], "five at random": []}
    for seed in range(seeds):
        pool = predicted(seed)
        greedy = select_batch(pool, INFORMATION, 5, maximiser=LazyGreedy(), seed=seed)
        sieve = select_batch(pool, INFORMATION, 5, maximiser=SieveStreaming(0.2), seed=seed)
        anyhow = select_batch(from_probs(pool.predictions[:5]), INFORMATION, 5, seed=seed)
        for name, chosen in zip(found, (greedy, sieve, anyhow), strict=True):
            found[name].append(chosen.scores[-1])
    return rows_of("nats", found)


def rows_of(label: str, found: dict[str, list[float]]) -> list[Row]:
    """One row a name."""
    return [{"chooser": name, **summary({label: values})} for name, values in found.items()]
