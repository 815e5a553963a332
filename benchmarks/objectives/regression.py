"""Digits that are turned, and the angle is to be predicted: draws of a regression function.

Most of the pool is nearly upright and every image comes three times, as pools have it; any angle is tested alike.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.ndimage import rotate  # type: ignore[import-untyped]

from benchmarks.objectives.digits import digits
from benchmarks.objectives.learning import Row, curve, summary
from infoacq import Objective, Random, select_batch
from infoacq.gaussian import from_values
from infoacq.objectives import GaussianBatchBALD, Scores
from infoacq.pool import Candidates

ROUNDS, BATCH, NOISE = 6, 10, 0.05


def run(seeds: int) -> list[Row]:
    """Root mean squared error in degrees after 6 rounds of 10 labels, from 20 labels on."""
    objectives: dict[str, Objective[Any]] = {
        "Random": Random(),
        "largest variances": Scores(variances, unit="variance"),
        "GaussianBatchBALD": GaussianBatchBALD(NOISE),
    }
    rows = []
    for name, objective in objectives.items():
        runs = [errors(objective, seed) for seed in range(seeds)]
        rows.append({"chooser": name, **summary({"error, degrees": [run[-1] for run in runs]}), **curve(runs)})
    return rows


def variances(candidates: Candidates) -> np.ndarray:
    """The variance of each value under the draws, which the pool keeps as the square of its features."""
    squared: np.ndarray = (candidates.predictions**2).sum(axis=1)
    return squared


@dataclass(frozen=True)
class Features:
    """Random Fourier features: a Gaussian process with a squared-exponential kernel, in a few numbers an image."""

    frequencies: Float[np.ndarray, "d f"]
    phases: Float[np.ndarray, " f"]

    @classmethod
    def drawn(cls, seed: int, size: int = 400, length: float = 2.5) -> "Features":
        """`size` of them, of this length scale."""
        rng = np.random.default_rng(seed)
        return cls(rng.standard_normal((64, size)) / length, rng.uniform(0, 2 * np.pi, size))

    def of(self, images: Float[np.ndarray, "n 64"]) -> Float[np.ndarray, "n f"]:
        """The features of each image."""
        found: np.ndarray = np.sqrt(2 / len(self.phases)) * np.cos(images @ self.frequencies + self.phases)
        return found


def errors(objective: Objective[Any], seed: int) -> list[float]:
    """The error before the first round and after each, in degrees."""
    phi, y = turned_digits(seed)
    labelled, pool = list(range(20)), np.repeat(np.arange(20, 500), 3)
    mean, root = posterior(phi[labelled], y[labelled])
    found = [degrees(phi[500:] @ mean - y[500:])]
    for step in range(ROUNDS):
        draws = mean + np.random.default_rng(1000 * seed + step).standard_normal((200, len(mean))) @ root.T
        chosen = select_batch(from_values(phi[pool] @ draws.T), objective, BATCH, seed=1000 * seed + step).indices
        labelled += pool[chosen].tolist()
        pool = np.delete(pool, chosen)
        mean, root = posterior(phi[labelled], y[labelled])
        found.append(degrees(phi[500:] @ mean - y[500:]))
    return found


def degrees(wrong: Float[np.ndarray, " n"]) -> float:
    """The root mean square of differences that are in units of 45 degrees."""
    return float(45 * np.sqrt(np.mean(wrong**2)))


def turned_digits(seed: int) -> tuple[Float[np.ndarray, "n f"], Float[np.ndarray, " n"]]:
    """Features and angles (in 45 degrees) of 1,000 images: nine in ten of the first 500 are nearly upright."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(-45, 45, 1000)
    upright = np.flatnonzero(np.arange(1000) % 10 < 9)
    upright = upright[upright < 500]
    angles[upright] = rng.normal(0, 5, len(upright))
    images = digits().images[rng.permutation(1797)[:1000]].reshape(-1, 8, 8)
    turned = [rotate(image, angle, reshape=False, order=1).ravel() for image, angle in zip(images, angles, strict=True)]
    return Features.drawn(seed).of(np.array(turned)), angles / 45


def posterior(phi: Float[np.ndarray, "n f"], y: Float[np.ndarray, " n"]) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the weights and a root of their covariance, under unit prior variance."""
    precision = np.eye(phi.shape[1]) + phi.T @ phi / NOISE
    root = np.linalg.inv(np.linalg.cholesky(precision)).T
    return root @ root.T @ phi.T @ y / NOISE, root
