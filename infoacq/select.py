"""The door: a pool, an objective and a batch size in, a selection out."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, SupportsIndex

import numpy as np

from infoacq import checks
from infoacq.conditioned import condition
from infoacq.maximiser import Map, Maximiser
from infoacq.maximisers import Greedy, LazyGreedy, RacingGreedy, TopK
from infoacq.objective import Bounded, Objective, Reported, Seeded, is_modular, is_raced, is_submodular
from infoacq.pool import as_pool
from infoacq.selection import SaturationWarning, Selection


def select_batch(
    pool: Any,
    objective: Objective[Any],
    batch_size: int,
    *,
    maximiser: Maximiser | None = None,
    pending: Iterable[SupportsIndex] = (),
    seed: int | None = None,
    map: Map = map,
) -> Selection:
    """Choose the candidates to label next.

    Args:
        pool: probabilities (n, k, c) = (candidates, draws, classes), an array of NumPy, PyTorch or JAX, or what
            `from_probs`, `from_log_probs` or `from_logits` returned.
        objective: what a batch is worth, such as `BatchBALD()`.
        batch_size: how many candidates to choose.
        maximiser: how to choose them. By default the cheapest for the objective: TopK if it is modular, RacingGreedy
            if it is submodular and can be raced (as BatchBALD), LazyGreedy if it is submodular, otherwise Greedy.
        pending: positions whose labels are being waited for: conditioned on, in this order, and never returned.
        seed: for sampled configurations and random objectives; the same seed gives the same batch.
        map: where shards are scored, such as an executor's `map`; the built-in one by default.

    Returns:
        The positions in pick order, with gains, scores and standard errors in nats. Fewer than `batch_size` if the
        objective rules out the rest, as budgets and other constraints do.

    Raises:
        TypeError: if an argument is of a wrong kind.
        ValueError: if predictions are no probabilities, positions are wrong, the batch does not fit, or the objective
            rules out every candidate.

    Warns:
        SaturationWarning: if the batch tells all but 5 % of what could be told of the draws.
    """
    pool = as_pool(pool)
    batch_size = checks.whole_number(batch_size, "batch_size")
    checks.objective(objective)
    checks.outcome(pool, objective)
    checks.callable_object(maximiser or Greedy(), "maximiser", "Greedy()")
    checks.callable_object(map, "map", "an executor's map")
    waiting = checks.positions(pending, len(pool), "pending")
    checks.fits_in_pool(batch_size, len(pool), waiting)
    root = np.random.SeedSequence(None if seed is None else checks.whole_number(seed, "seed", least=0))
    rngs = [np.random.default_rng(child) for child in root.spawn(len(waiting) + batch_size)]
    if isinstance(objective, Seeded):
        objective = objective.seeded(np.random.default_rng(root))
    todo: Objective[Any] = objective
    before = Selection.of([], 0)
    if len(waiting):
        todo, before = condition(objective, pool, waiting, rngs[: len(waiting)])
    chosen = (maximiser or default_maximiser(objective))(todo, pool, batch_size, rngs[len(waiting) :], map)
    checks.some_chosen(len(chosen), objective)
    if isinstance(objective, Reported):
        chosen, before = objective.reported(chosen), objective.reported(before)
    limit = objective.limit(pool) if isinstance(objective, Bounded) else math.inf
    selection = _within_limit(chosen, getattr(objective, "unit", "nats"), limit, math.fsum(before.gains))
    _warn_if_saturated(selection, objective)
    return selection


def default_maximiser(objective: Objective[Any]) -> Maximiser:
    """The cheapest maximiser whose batch is that of plain greedy for this objective (a race: nearly always)."""
    if is_modular(objective):
        return TopK()
    if is_submodular(objective):
        return RacingGreedy() if is_raced(objective) else LazyGreedy()
    return Greedy()


def _within_limit(chosen: Selection, unit: str, limit: float, worth: float) -> Selection:
    """The selection with its unit and limit; what sampling noise put above the limit is taken off its gains.

    The truth is within the limit, so this brings every estimate nearer to it.
    """
    if limit == math.inf:
        return replace(chosen, unit=unit, conditioned=worth)
    worth = min(worth, limit)
    total, gains = 0.0, []
    for gain in chosen.gains:
        gains.append(min(gain, limit - worth - total))
        total += gains[-1]
    return replace(chosen, unit=unit, gains=gains, limit=limit, conditioned=worth)


def _warn_if_saturated(selection: Selection, objective: Objective[Any]) -> None:
    if selection.saturated_from is not None:
        warnings.warn(
            f"{type(objective).__name__}: from pick {selection.saturated_from} of {len(selection)} on, the "
            f"score is within 5 % of {selection.limit:.4f} {selection.unit}, the most that the draws can tell. "
            "Later picks are ranked by noise: predict under more draws, or choose a smaller batch.",
            SaturationWarning,
            stacklevel=3,
        )
