"""One sieve of SieveStreaming: what it takes of the candidates that pass, in their order."""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks
from infoacq._arrays import take, to_host
from infoacq.maximisers.scoring import standard_error
from infoacq.objective import Objective
from infoacq.pool import Candidates
from infoacq.selection import Pick

# Candidates that are evaluated together while the next one to take is looked for.
PIECE = 256


@dataclass(frozen=True)
class Sieve:
    """The batch of one threshold so far: the objective's state, the picks, and how many gains were evaluated."""

    threshold: float
    state: Any
    picks: tuple[Pick, ...] = ()
    evaluations: int = 0

    @property
    def score(self) -> float:
        """What the batch is worth."""
        return math.fsum(pick.gain for pick in self.picks)

    def taken(
        self, objective: Objective[Any], chosen: Candidates, gain: float, rngs: Sequence[np.random.Generator]
    ) -> "Sieve":
        """The sieve with one more candidate. Every sieve has the same random numbers for its n-th one."""
        picks = (*self.picks, Pick(int(chosen.index[0]), gain, standard_error(objective, self.state, chosen)))
        if len(picks) == len(rngs):  # nothing more is chosen
            return replace(self, picks=picks)
        return replace(self, state=objective.update(self.state, chosen, deepcopy(rngs[len(picks) - 1])), picks=picks)


def sifted(
    objective: Objective[Any],
    candidates: Candidates,
    alone: Float[np.ndarray, " n"],
    rngs: Sequence[np.random.Generator],
    sieve: Sieve,
) -> Sieve:
    """The sieve after these candidates, whose gains alone bound those that they have with others."""
    bounds, start, size = alone.copy(), 0, len(rngs)
    while len(sieve.picks) < size:
        lacking = (sieve.threshold / 2 - sieve.score) / (size - len(sieve.picks))
        # A batch that has reached v / 2 keeps its free places for candidates that would have been taken at first.
        needed = lacking if lacking > 0 else sieve.threshold / (2 * size)
        hopeful = start + np.flatnonzero(bounds[start:] >= needed)
        at, evaluations = _first(objective, sieve, candidates, bounds, hopeful, needed)
        sieve = replace(sieve, evaluations=sieve.evaluations + evaluations)
        if at is None:
            break
        sieve = sieve.taken(objective, some(candidates, np.array([at])), float(bounds[at]), rngs)
        start = at + 1
    return sieve


def _first(
    objective: Objective[Any],
    sieve: Sieve,
    candidates: Candidates,
    bounds: Float[np.ndarray, " n"],
    hopeful: Int[np.ndarray, " hopeful"],
    needed: float,
) -> tuple[int | None, int]:
    """The first of the hopeful that adds what is needed, and how many were evaluated; `bounds` become tighter."""
    for done in range(0, len(hopeful), PIECE):
        piece = hopeful[done : done + PIECE]
        gains = to_host(objective.gains(sieve.state, some(candidates, piece)))
        checks.gains(gains, candidates.index[piece], objective)
        bounds[piece] = gains
        enough = np.flatnonzero(gains >= needed)
        if enough.size:
            return int(piece[enough[0]]), done + len(piece)
    return None, len(hopeful)


def some(candidates: Candidates, rows: Int[np.ndarray, " rows"]) -> Candidates:
    """The candidates at these rows, copied."""
    return Candidates(candidates.index[rows], take(candidates.predictions, rows))
