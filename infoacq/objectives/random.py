"""Random acquisition: the baseline that every other one is shown beside."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class Random:
    """A uniform number in [0, 1) for each candidate: the largest are a random batch.

    The number depends on `key` and the candidate's position alone, so that no sharding changes it. `select_batch`
    draws the key from its seed.

    Source of the mixing function: Steele et al. 2014, splitmix64.
    """

    key: int = 0
    modular: ClassVar[bool] = True
    outcome: ClassVar[str] = "any"
    unit: ClassVar[str] = "uniform number"

    def seeded(self, rng: np.random.Generator) -> "Random":
        """The objective with a key of this generator."""
        return replace(self, key=int(rng.integers(2**63)))

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[np.ndarray, " n"]:
        """The number of each candidate."""
        x = (candidates.index.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(self.key)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return (x ^ (x >> np.uint64(31))) / np.float64(2.0**64)

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""
