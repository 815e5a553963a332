"""Checks of predictions that are no probabilities: real numbers."""

import numpy as np

from infoacq._arrays import Array, is_floating, namespace, to_host
from infoacq.checks.predictions import floating_array


def values(x: object, shapes: dict[int, str], name: str) -> Array:
    """`x`, known to be finite numbers of one of these shapes, which are given by their number of axes.

    Raises:
        TypeError: if it is no floating-point array.
        ValueError: if its shape is another, an axis is empty, or a number is not finite.
    """
    v = floating_array(x, name)
    if v.ndim not in shapes or 0 in v.shape:
        raise ValueError(f"{name} must have shape {' or '.join(shapes.values())}, none empty; got {tuple(v.shape)}.")
    xp = namespace(v)
    bad = ~xp.isfinite(v)
    if bool(xp.any(bad)):
        at = np.argwhere(to_host(xp.astype(bad, v.dtype)))[0]
        number = float(v[tuple(int(i) for i in at)])
        raise ValueError(
            f"{name} must be finite; candidate {at[0]} is {number:g} at {tuple(at.tolist())}. Remove the candidate, or "
            "find out why the model gave it that."
        )
    return v


def several_draws(draws: int, name: str) -> None:
    """Check that there is a variance under the draws.

    Raises:
        ValueError: if there is only one draw.
    """
    if draws < 2:
        raise ValueError(f"{name} must be under at least 2 draws, (n, k) with k ≥ 2, to have a variance; got {draws}.")


def gaussian_targets(targets: object) -> None:
    """Check that `targets` are a pool of a Gaussian model.

    Raises:
        TypeError: if they are not; an array is the common slip, which could be draws or embeddings.
    """
    if not (hasattr(targets, "take") and getattr(targets, "outcome", None) == "values"):
        kind = "an array" if hasattr(targets, "dtype") and is_floating(targets) else type(targets).__name__
        raise TypeError(
            f"targets must be made as the pool is, by from_values or from_embeddings; got {kind}. "
            "Write from_embeddings(targets), say."
        )


def same_features(targets: int, pool: int) -> None:
    """Check that targets and pool are described by the same draws or features.

    Raises:
        ValueError: if they are not as many.
    """
    if targets != pool:
        raise ValueError(
            f"targets must be under the pool's {pool} draws, or have its {pool} features; got {targets}. "
            "Make both in one go."
        )
