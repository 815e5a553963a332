"""Gains of many candidates: the only loop over shards, and the decision between them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks
from infoacq._arrays import resolution, rows_to_evaluate, to_host
from infoacq.candidates import Candidates, Parted, Pool, Shard
from infoacq.maximiser import Map
from infoacq.objective import Estimated, Objective, Raced, magnitude

# Candidates that are re-evaluated together: what one call to `map` is worth, and a bound on what is copied at once.
PIECE = 4096


@dataclass(frozen=True)
class Scored:
    """Gains of some candidates on the host; two are equal within `resolution` of the larger, or of `magnitude`."""

    index: Int[np.ndarray, " n"]
    gains: Float[np.ndarray, " n"]
    resolution: float
    magnitude: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Consecutive positions, those of a whole shard, travel as the first of them."""
        first = int(self.index[0]) if len(self.index) else 0
        if np.array_equal(self.index, np.arange(first, first + len(self.index))):
            return _consecutive, (first, self.gains, self.resolution, self.magnitude)
        return Scored, (self.index, self.gains, self.resolution, self.magnitude)


def _consecutive(first: int, gains: Float[np.ndarray, " n"], resolution: float, magnitude: float) -> Scored:
    return Scored(np.arange(first, first + len(gains)), gains, resolution, magnitude)


@dataclass(frozen=True)
class Loaded:
    """Candidates that were taken from a pool, as a shard."""

    candidates: Candidates

    def load(self) -> Candidates:
        return self.candidates


def score_pool(objective: Objective[Any], state: Any, pool: Pool, map: Map) -> Scored:
    """The gain of every candidate, in the order of their positions."""
    scored = _scored(objective, state, pool.shards(), map)
    gains = np.full(len(pool), np.nan)
    gains[scored.index] = scored.gains
    everyone = np.arange(len(pool))
    checks.gains(gains, everyone, objective)
    return Scored(everyone, gains, scored.resolution, scored.magnitude)


def score_some(objective: Objective[Any], state: Any, pool: Pool, index: Int[np.ndarray, " n"], map: Map) -> Scored:
    """The gains of the candidates at `index`, in that order."""
    scored = _scored(objective, state, _pieces(pool, index), map)
    gains = _in_order(index, scored.index, scored.gains)
    checks.gains(gains, index, objective)
    return Scored(index, gains, scored.resolution, scored.magnitude)


def compare_some(
    objective: Raced, state: Any, pool: Pool, index: Int[np.ndarray, " n"], reference: Candidates, map: Map
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The gains of the candidates at `index` less the reference's, and the standard errors of these differences."""
    parts = list(map(partial(_compare_shard, objective, state, reference), _pieces(pool, index)))
    found, differences, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _in_order(index, found, differences), _in_order(index, found, errors)


def standard_error(objective: Objective[Any], state: Any, chosen: Candidates) -> float:
    """The standard error of one candidate's gain, 0 if the objective's gains are exact."""
    return float(to_host(objective.standard_errors(state, chosen))[0]) if isinstance(objective, Estimated) else 0.0


def best(scored: Scored) -> int | None:
    """Which of the gains is the largest; of equal ones that of the lowest position. None if all are ruled out."""
    largest = scored.gains.max()
    if largest == -np.inf:
        return None
    equal = np.flatnonzero(scored.gains >= largest - tie(scored))
    return int(equal[np.argmin(scored.index[equal])])


def tie(scored: Scored) -> float:
    """How far below the largest gain another one is its equal, in the gains' unit."""
    largest = float(scored.gains.max())
    return scored.resolution * max(scored.magnitude, abs(largest)) if np.isfinite(largest) else 0.0


def _pieces(pool: Pool, index: Int[np.ndarray, " n"]) -> Iterable[Shard]:
    """The candidates at `index`, by shard if that is how the pool is best read."""
    return pool.parts(index) if isinstance(pool, Parted) else _taken(pool, index)


def _taken(pool: Pool, index: Int[np.ndarray, " n"]) -> Iterator[Loaded]:
    """The candidates at `index`, the last ones once more where a round number of them is less work."""
    like = pool.take(index[:1]).predictions
    for start in range(0, len(index), PIECE):
        piece = index[start : start + PIECE]
        yield Loaded(pool.take(np.pad(piece, (0, rows_to_evaluate(len(piece), like) - len(piece)), mode="edge")))


def _in_order(
    index: Int[np.ndarray, " n"], found: Int[np.ndarray, " found"], values: Float[np.ndarray, " found"]
) -> Float[np.ndarray, " n"]:
    """The values of the candidates at `index`, of those that were `found`; NaN for one that was lost."""
    if np.array_equal(found[: len(index)], index):
        return values[: len(index)]
    order = np.argsort(found, kind="stable")
    places = order[np.minimum(np.searchsorted(found, index, sorter=order), len(found) - 1)]
    return np.where(found[places] == index, values[places], np.nan)


def _scored(objective: Objective[Any], state: Any, shards: Iterable[Shard], map: Map) -> Scored:
    parts: list[Scored] = list(map(partial(_score_shard, objective, state), shards))
    return Scored(
        np.concatenate([part.index for part in parts]),
        np.concatenate([part.gains for part in parts]),
        max(part.resolution for part in parts),
        magnitude(objective),
    )


def _score_shard(objective: Objective[Any], state: Any, shard: Shard) -> Scored:
    candidates = shard.load()
    gains = to_host(objective.gains(state, candidates))
    checks.gains(gains, candidates.index, objective)
    return Scored(candidates.index, gains, resolution(candidates.predictions), magnitude(objective))


def _compare_shard(
    objective: Raced, state: Any, reference: Candidates, shard: Shard
) -> tuple[Int[np.ndarray, " n"], Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    candidates = shard.load()
    differences, errors = objective.differences(state, candidates, reference)
    return candidates.index, to_host(differences), to_host(errors)
