"""Scores of single candidates that the information objectives are compared with."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import _kernels
from infoacq._arrays import Array, blocks, concatenated, contract, namespace
from infoacq.entropy import uniform
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class PredictiveEntropy:
    """H[y_n], the entropy of the mean prediction (nats), also called max entropy.

    Source: Shannon 1948; as an acquisition function Gal et al. 2017 (arXiv 1703.02910), § 4.
    """

    modular: ClassVar[bool] = True

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[Array, " n"]:
        """H[y_n] of each candidate (nats)."""
        return _kernels.marginal_entropies(candidates.predictions, uniform(candidates.predictions))

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""


@dataclass(frozen=True)
class VariationRatios:
    """1 − max_c p(y_n = c) of the mean prediction: the probability that the best guess is wrong.

    Source: Freeman 1965; as an acquisition function Gal et al. 2017 (arXiv 1703.02910), § 4.
    """

    modular: ClassVar[bool] = True
    unit: ClassVar[str] = "probability"

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[Array, " n"]:
        """1 − max_c p(y_n = c) of each candidate."""
        weights = uniform(candidates.predictions)
        means = [contract("n k c, k -> n c", p, weights) for p in blocks(candidates.predictions)]
        return concatenated([1.0 - namespace(mean).max(mean, axis=-1) for mean in means])

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""


@dataclass(frozen=True)
class MeanStandardDeviation:
    """The standard deviation of p(y_n = c | draw k) over the draws, averaged over the classes.

    Source: Kampffmeyer et al. 2016; Kendall et al. 2015 (arXiv 1511.02680); as an acquisition function Gal et al.
    2017 (arXiv 1703.02910), § 4.
    """

    modular: ClassVar[bool] = True
    unit: ClassVar[str] = "probability"

    def init(self, pool: Pool) -> None:
        """Nothing to remember."""

    def gains(self, state: None, candidates: Candidates) -> Float[Array, " n"]:
        """The mean standard deviation of each candidate: of deviations from the mean, so never of a negative."""
        xp = namespace(candidates.predictions)
        return concatenated([xp.mean(xp.std(p, axis=1), axis=-1) for p in blocks(candidates.predictions)])

    def update(self, state: None, chosen: Candidates, rng: np.random.Generator) -> None:
        """Nothing to remember."""
