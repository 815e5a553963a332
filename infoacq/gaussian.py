"""Gaussian models: draws of regression functions, and linear models on embeddings, as one and the same thing.

Both are f_n = φ_n · w with weights w ~ N(0, I), observed with Gaussian noise. For embeddings φ_n is the embedding; for
draws of a regression function it holds what each draw deviates from their mean, over √(k − 1), so that φ_i · φ_j is the
covariance of f_i and f_j. What is known of w after some observations is a k × k matrix, however large the pool.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import (
    Array,
    block_size,
    blocks,
    concatenated,
    detached,
    from_host,
    identity,
    namespace,
    rearrange,
    to_host,
    widened,
)
from infoacq.pool import ArrayPool


def from_values(values: Float[Array, "n k *d"]) -> ArrayPool:
    """A pool from values of a regression function at each candidate under each draw: (n, k), or (n, k, d outputs).

    Values, not observations: noise is the objective's. Computed in at least float32.

    Raises:
        TypeError: if `values` is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if it has another shape, fewer than 2 draws, or a number that is not finite.
    """
    v = widened(detached(checks.values(values, {2: "(n, k)", 3: "(n, k, d)"}, "values")))
    checks.several_draws(v.shape[1], "values")
    deviations = (v - namespace(v).mean(v, axis=1, keepdims=True)) / math.sqrt(v.shape[1] - 1)
    return ArrayPool(deviations, outcome="values")


def from_embeddings(embeddings: Float[Array, "n k"]) -> ArrayPool:
    """A pool from an embedding of each candidate, (n, features): f_n is linear in it, with weights from N(0, I).

    Scale embeddings so that |φ_n|² is the variance of f_n before anything is known, in the unit of the noise variance.

    Raises:
        TypeError: if `embeddings` is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if it has another shape, or a number that is not finite.
    """
    return ArrayPool(detached(checks.values(embeddings, {2: "(n, features)"}, "embeddings")), outcome="values")


def rows(features: Float[Array, "n k *d"]) -> Float[Array, "n d k"]:
    """One row of features an output."""
    return rearrange(features, "n k -> n 1 k") if features.ndim == 2 else rearrange(features, "n k d -> n d k")


@dataclass(frozen=True)
class GaussianPosterior:
    """Weights w ~ N(0, root rootᵀ): the root is kept, so that variances stay positive however many are appended.

    `like` is any array of the maker, device and dtype in which candidates are scored.
    """

    root: Float[np.ndarray, "k r"]
    like: Float[Array, " 1"]

    @classmethod
    def prior(cls, features: Float[Array, "n k *d"]) -> "GaussianPosterior":
        """Weights w ~ N(0, I), to be scored where these features are."""
        return cls(np.eye(features.shape[1]), from_host(np.ones(1), like=features))

    @classmethod
    def knowing(
        cls, features: Float[np.ndarray, "t k"], noise_variance: float, digits: float, like: Array
    ) -> "GaussianPosterior":
        """The posterior after observing all of these rows at once, also without noise.

        Without noise a direction is then known if its singular value is above `digits` of the largest: what is below
        could be rounding of the features.
        """
        _, singular, directions = np.linalg.svd(np.linalg.qr(features).R, full_matrices=True)
        squares = np.zeros(len(directions))
        squares[: len(singular)] = singular**2
        if noise_variance > 0:
            left = np.sqrt(noise_variance / (noise_variance + squares))
        else:
            left = np.where(squares > (digits * max(features.shape)) ** 2 * squares.max(), 0.0, 1.0)
        return cls(directions.T * left[None, :], like)

    @cached_property
    def beside(self) -> Float[Array, "k r"]:
        """The root where the candidates are scored."""
        return from_host(self.root, self.like)

    def append(self, features: Float[np.ndarray, "d k"], noise_variance: float) -> "GaussianPosterior":
        """The posterior after observing φ_j · w + noise for each row.

        Source: Potter's square-root update, Bierman 1977, Factorization methods for discrete sequential estimation,
        § II.3: one row at a time.
        """
        root = self.root
        for row in features:
            shared = root.T @ row
            total = shared @ shared + noise_variance
            gain = (root @ shared) / (total + math.sqrt(noise_variance * total))
            root = root - gain[:, None] * shared[None, :]
        return GaussianPosterior(root, self.like)

    def in_blocks(
        self, features: Float[Array, "n k *d"], score: Callable[[Float[Array, "n d r"]], Float[Array, " n"]]
    ) -> Float[Array, " n"]:
        """`score` of rootᵀφ of each output of each candidate, a block of candidates at a time."""
        outputs = math.prod(features.shape[2:])
        step = max(1, block_size(features) // (outputs * max(self.root.shape)))
        return concatenated([score(namespace(b).matmul(rows(b), self.beside)) for b in blocks(features, step)])

    def information(self, features: Float[Array, "n k *d"], noise_variance: float) -> Float[Array, " n"]:
        """½ log det(I + φᵀΣφ / σ²), what observing each candidate tells of the weights (nats)."""
        return self.in_blocks(features, lambda shared: half_log_det(shared, noise_variance))


def half_log_det(shared: Float[Array, "n d r"], noise_variance: float) -> Float[Array, " n"]:
    """½ log det(I + s sᵀ / σ²) of each s (nats)."""
    xp = namespace(shared)
    if shared.shape[1] == 1:
        return 0.5 * xp.log1p(xp.sum(shared[:, 0, :] ** 2, axis=1) / noise_variance)
    squares = xp.matmul(shared, xp.matrix_transpose(shared)) / noise_variance
    return 0.5 * xp.linalg.slogdet(squares + identity(shared.shape[1], like=shared))[1]


def host_rows(features: Any) -> Float[np.ndarray, "nd k"]:
    """All rows of some candidates' features on the host, in float64."""
    each: np.ndarray = rearrange(rows(to_host(features)), "n d k -> (n d) k")
    return each
