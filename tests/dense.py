"""The right values of Gaussian models, by determinants and solves of the covariance of everything at once."""

from collections.abc import Callable

import numpy as np

Value = Callable[[list[int]], float]


def information(points: np.ndarray, noise: float) -> float:
    """I[y_S; w] = ½ log det(I + K_SS / σ²) of rows of features."""
    return 0.5 * float(np.linalg.slogdet(np.eye(len(points)) + points @ points.T / noise)[1])


def told(points: np.ndarray, targets: np.ndarray, noise: float) -> float:
    """I[y_S; f_targets], the targets' values themselves."""
    across, within = points @ targets.T, targets @ targets.T
    left = points @ points.T - across @ np.linalg.pinv(within, rcond=1e-10) @ across.T
    before, after = (np.linalg.slogdet(k / noise + np.eye(len(points)))[1] for k in (points @ points.T, left))
    return 0.5 * float(before - after)


def lowered(points: np.ndarray, targets: np.ndarray, noise: float) -> float:
    """The mean over the targets of Var[f_t] − Var[f_t | y_S]."""
    across = points @ targets.T
    noisy = points @ points.T + noise * np.eye(len(points))
    return float(np.trace(across.T @ np.linalg.solve(noisy, across))) / len(targets)


def rows_of_draws(values: np.ndarray) -> np.ndarray:
    """One row an output, "n o k", whose products are the sample covariances of values (n, k) or (n, k, outputs)."""
    each = values[:, :, None] if values.ndim == 2 else values
    return (
        np.stack([each[:, :, o] - each[:, :, o].mean(axis=1, keepdims=True) for o in range(each.shape[2])], axis=1)
        / (each.shape[1] - 1) ** 0.5
    )
