"""BatchBALD of Gaussian models: regression, and linear models on embeddings."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import Array
from infoacq.gaussian import GaussianPosterior, host_rows
from infoacq.pool import Candidates, Pool


@dataclass(frozen=True)
class GaussianBatchBALD:
    """I[y_S; w] = ½ log det(I + Φ_S Φ_Sᵀ / σ²), what observations at the batch S tell of the model (nats).

    For pools of `from_values` (draws of a regression function: by their covariance) and of `from_embeddings` (a linear
    model: Bayesian D-optimal design). `noise_variance` is σ², of the noise of each observation; where it differs
    between candidates, divide each one's values or embedding by its own σ and give 1.

    Raises:
        TypeError: if `noise_variance` is no number.
        ValueError: if it is not finite and above 0.

    Source: Kirsch 2023 (arXiv 2302.08981), Black-box batch active learning for regression; for linear models
    MacKay 1992, Information-based objective functions for active data selection.
    """

    noise_variance: float
    submodular: ClassVar[bool] = True
    outcome: ClassVar[str] = "values"

    def __post_init__(self) -> None:
        checks.real_number(self.noise_variance, "noise_variance", above=0.0)

    def init(self, pool: Pool) -> GaussianPosterior:
        """Nothing observed."""
        return GaussianPosterior.prior(pool.take(np.zeros(1, dtype=np.int64)).predictions)

    def gains(self, known: GaussianPosterior, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; w | y_S] = ½ log det(I + φ_n Σ φ_nᵀ / σ²) of each candidate (nats)."""
        return known.information(candidates.predictions, self.noise_variance)

    def update(self, known: GaussianPosterior, chosen: Candidates, rng: np.random.Generator) -> GaussianPosterior:
        """The chosen observed."""
        return known.append(host_rows(chosen.predictions), self.noise_variance)
