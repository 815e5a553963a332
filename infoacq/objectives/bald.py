"""BALD: what one label tells of the parameters, each candidate by itself."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import _kernels
from infoacq._arrays import Array
from infoacq.entropy import uniform
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class BALD:
    """I[y_n; draw] = H[y_n] − E_k H[y_n | draw k] (nats), summed over the batch as if labels were independent.

    Top-k of these scores is the paper's BALD baseline; it counts information that candidates share more than once.

    Source: Houlsby et al. 2011 (arXiv 1112.5745), eq. 2; Gal et al. 2017 (arXiv 1703.02910).
    """

    modular: ClassVar[bool] = True

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; draw] of each candidate (nats)."""
        weights = uniform(candidates.predictions)
        return _kernels.information(
            candidates.predictions, candidates.draw_entropies, weights[None, :], weights[:1] * 0 + 1, weights
        )

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""
