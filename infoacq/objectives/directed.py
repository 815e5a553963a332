"""Gaussian models observed for the sake of some targets: transductive learning."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import Array, from_host, identity, namespace
from infoacq.gaussian import GaussianPosterior, host_rows
from infoacq.pool import Candidates, Pool


class Directed(NamedTuple):
    """What is known of the weights after the chosen, and what would be if the targets were known as well."""

    known: GaussianPosterior
    targets_known: GaussianPosterior


@dataclass(frozen=True, eq=False)
class ITL:
    """I[y_S; f_targets] = I[y_S; w] − I[y_S; w | f_targets], what observations at S tell of the targets' values (nats).

    Args:
        targets: made as the pool is, by `from_values` under the same draws or by `from_embeddings`.
        noise_variance: σ² of the noise of each observation.
        target_noise_variance: 0 for the targets' values themselves, above 0 for observations of them.

    Not submodular in general: LazyGreedy refuses it, and the batch is Greedy's, without a guarantee.

    Raises:
        TypeError: if `targets` are no such pool, or a variance no number.
        ValueError: if a variance is not finite, `noise_variance` not above 0, or `target_noise_variance` negative.

    Source: Hübotter et al. 2024 (arXiv 2402.15898), Transductive active learning: theory and applications.
    """

    targets: Any
    noise_variance: float
    target_noise_variance: float = 0.0
    outcome: ClassVar[str] = "values"
    not_submodular: ClassVar[str] = "two observations may tell together what neither tells alone"

    def __post_init__(self) -> None:
        checks.gaussian_targets(self.targets)
        checks.real_number(self.noise_variance, "noise_variance", above=0.0)
        checks.real_number(self.target_noise_variance, "target_noise_variance", least=0.0)

    @cached_property
    def magnitude(self) -> float:
        """What an observation of the most uncertain target tells of itself: gains are differences of such (nats)."""
        each = host_rows(self.targets.take(np.arange(len(self.targets))).predictions)
        return float(0.5 * np.log1p((each**2).sum(axis=1).max() / self.noise_variance))

    def init(self, pool: Pool) -> Directed:
        """Nothing observed; the targets known.

        Raises:
            ValueError: if the targets are under other draws, or have other features, than the pool.
        """
        known = GaussianPosterior.prior(pool.take(np.zeros(1, dtype=np.int64)).predictions)
        targets = self.targets.take(np.arange(len(self.targets))).predictions
        checks.same_features(targets.shape[1], known.root.shape[0])
        noise, digits = self.target_noise_variance, float(namespace(targets).finfo(targets.dtype).eps)
        return Directed(known, GaussianPosterior.knowing(host_rows(targets), noise, digits, known.like))

    def gains(self, state: Directed, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; f_targets | y_S] of each candidate (nats)."""
        told, beside = (known.information(candidates.predictions, self.noise_variance) for known in state)
        # What the targets leave to tell is part of what there is to tell: below zero is rounding.
        return namespace(told).clip(told - beside, min=0.0)

    def update(self, state: Directed, chosen: Candidates, rng: np.random.Generator) -> Directed:
        """The chosen observed, with and without the targets."""
        each = host_rows(chosen.predictions)
        return Directed(*(known.append(each, self.noise_variance) for known in state))


@dataclass(frozen=True, eq=False)
class VTL:
    """Σ_t weights_t (Var[f_t] − Var[f_t | y_S]), by how much observations at S lower the targets' variance.

    Args:
        targets: made as the pool is, by `from_values` under the same draws or by `from_embeddings`.
        noise_variance: σ² of the noise of each observation.
        weights: how much each target matters, not negative; they are divided by their sum. Alike by default.

    Not submodular in general: LazyGreedy refuses it, and the batch is Greedy's, without a guarantee.

    Raises:
        TypeError: if `targets` are no such pool, or a number none.
        ValueError: if `noise_variance` is not finite and above 0, or `weights` not one each and not negative.

    Source: Seo et al. 2000, Gaussian process regression: active data selection and test point rejection; named so in
    Hübotter et al. 2024 (arXiv 2402.15898).
    """

    targets: Any
    noise_variance: float
    weights: Any = None
    unit: ClassVar[str] = "variance"
    outcome: ClassVar[str] = "values"
    not_submodular: ClassVar[str] = "two observations may tell together what neither tells alone"

    def __post_init__(self) -> None:
        checks.gaussian_targets(self.targets)
        checks.real_number(self.noise_variance, "noise_variance", above=0.0)
        checks.relative_weights(self.weights, len(self.targets), "targets")

    @cached_property
    def _targets(self) -> Float[np.ndarray, "t k"]:
        """A few rows whose squares sum to the targets' weighted squares: at most as many as there are features."""
        each = host_rows(self.targets.take(np.arange(len(self.targets))).predictions)
        weights = checks.relative_weights(self.weights, len(self.targets), "targets")
        weighted = np.sqrt(np.repeat(weights, len(each) // len(weights)))[:, None] * each
        return np.linalg.qr(weighted).R

    def init(self, pool: Pool) -> GaussianPosterior:
        """Nothing observed.

        Raises:
            ValueError: if the targets are under other draws, or have other features, than the pool.
        """
        known = GaussianPosterior.prior(pool.take(np.zeros(1, dtype=np.int64)).predictions)
        checks.same_features(self._targets.shape[1], known.root.shape[0])
        return known

    def gains(self, known: GaussianPosterior, candidates: Candidates) -> Float[Array, " n"]:
        """By how much each candidate lowers the targets' variance, given those chosen."""
        targets = from_host((self._targets @ known.root).T, like=known.like)
        return known.in_blocks(candidates.predictions, lambda shared: self._lowered(shared, targets))

    def update(self, known: GaussianPosterior, chosen: Candidates, rng: np.random.Generator) -> GaussianPosterior:
        """The chosen observed."""
        return known.append(host_rows(chosen.predictions), self.noise_variance)

    def _lowered(self, shared: Float[Array, "n d r"], targets: Float[Array, "r t"]) -> Float[Array, " n"]:
        """Σ_t c_t (s sᵀ + σ² I)⁻¹ c_tᵀ with c_t = s · targets_t."""
        xp = namespace(shared)
        with_targets = xp.matmul(shared, targets)
        if shared.shape[1] == 1:
            total = xp.sum(shared[:, 0, :] ** 2, axis=1) + self.noise_variance
            return xp.sum(with_targets[:, 0, :] ** 2, axis=1) / total
        noise = self.noise_variance * identity(shared.shape[1], like=shared)
        total = xp.matmul(shared, xp.matrix_transpose(shared)) + noise
        return xp.sum(xp.sum(with_targets * xp.linalg.solve(total, with_targets), axis=2), axis=1)
