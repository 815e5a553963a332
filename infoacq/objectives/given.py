"""Objectives made of a function of the user's own: a score of single candidates, or a value of sets."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import Array, is_array, is_floating
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class Scores:
    """Σ_n score(n) over the batch, in `unit`: any score of single candidates.

    `score` is given some candidates and returns one number each, from `candidates.predictions` (n, k, c) or, for
    scores that are known before, `known[candidates.index]`. Minus infinity rules a candidate out.

    Raises:
        TypeError: if `score` cannot be called.
        ValueError: when it is evaluated, if a score is NaN or plus infinity, or there is not one a candidate.
    """

    score: Callable[[Candidates], Any]
    unit: str = "score"
    modular: ClassVar[bool] = True
    outcome: ClassVar[str] = "any"

    def __post_init__(self) -> None:
        checks.callable_object(self.score, "score", "a function of candidates")

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[Array, " n"]:
        """The score of each candidate."""
        values = self.score(candidates)
        return values if is_array(values) and is_floating(values) else np.asarray(values, dtype=np.float64)

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""


class Valued(NamedTuple):
    """The positions chosen so far and the function's value there."""

    positions: tuple[int, ...]
    value: float


@dataclass(frozen=True)
class SetFunction:
    """function(batch) − function(no candidate), in `unit`: any function of a set of pool positions.

    `function` is called once for every candidate that is evaluated, with the positions in the order of choice. Say
    `submodular=True` if what a candidate adds never grows with the batch: lazy evaluation then calls it less often.

    Raises:
        TypeError: if `function` cannot be called.
        ValueError: when it is evaluated, if a value is NaN or infinite.
    """

    function: Callable[[tuple[int, ...]], float]
    submodular: bool = False
    unit: str = "value"
    outcome: ClassVar[str] = "any"

    def __post_init__(self) -> None:
        checks.callable_object(self.function, "function", "a function of positions")

    def init(self, pool: Pool) -> Valued:
        """No position."""
        return Valued((), float(self.function(())))

    def gains(self, state: Valued, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """What each candidate adds to the function's value."""
        values = [float(self.function((*state.positions, n))) for n in candidates.index.tolist()]
        return np.array(values) - state.value

    def update(self, state: Valued, chosen: Candidates, rng: np.random.Generator) -> Valued:
        """The chosen positions appended."""
        positions = (*state.positions, *chosen.index.tolist())
        return Valued(positions, float(self.function(positions)))
