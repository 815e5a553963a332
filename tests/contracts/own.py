"""Objectives as a user may write them, by wrapping another one."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from infoacq import Candidates


@dataclass(frozen=True)
class Charged:
    """What a user may write: an objective less a cost a candidate, by wrapping."""

    inner: Any
    cost: float
    submodular: ClassVar[bool] = True

    def init(self, pool: Any) -> Any:
        return self.inner.init(pool)

    def gains(self, state: Any, candidates: Candidates) -> Any:
        return self.inner.gains(state, candidates) - self.cost

    def update(self, state: Any, chosen: Candidates, rng: np.random.Generator) -> Any:
        return self.inner.update(state, chosen, rng)


@dataclass(frozen=True)
class Keyed:
    """An objective's three verbs and nothing else, so that `select_batch` draws no key for it."""

    inner: Any
    modular: ClassVar[bool] = True

    def init(self, pool: Any) -> Any:
        return self.inner.init(pool)

    def gains(self, state: Any, candidates: Candidates) -> Any:
        return self.inner.gains(state, candidates)

    def update(self, state: Any, chosen: Candidates, rng: np.random.Generator) -> Any:
        return self.inner.update(state, chosen, rng)
