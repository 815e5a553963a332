"""Checks of predictions: what is no probability distribution is an error that names the candidate and the draw."""

import math

import numpy as np

from infoacq._arrays import Array, blocks, dtype_name, is_array, is_floating, namespace, place, to_host

# How far a row of probabilities may miss one: the rounding of its own dtype over many classes, and for the wide
# dtypes that of values which were stored in half precision before.
# A log-probability of −4.6 in bfloat16 is off by 0.016, and so is the sum of its row's exponentials.
SUM_TOLERANCE = {"float64": 1e-3, "float32": 1e-3, "float16": 1e-2, "bfloat16": 2e-2}


def floating_array(x: object, name: str = "predictions") -> Array:
    """`x`, known to be a floating-point array of a known maker.

    Raises:
        TypeError: if it is no array, or holds no floating-point numbers.
    """
    if not is_array(x):
        raise TypeError(
            f"{name} must be an array from NumPy, PyTorch or JAX; got {type(x).__name__}. "
            f"For a list of numbers: numpy.asarray({name})."
        )
    if not is_floating(x):
        raise TypeError(
            f"{name} must hold floating-point numbers; got {dtype_name(x)}. "
            "Labels are not predictions: give each class its probability under each draw."
        )
    if dtype_name(x) not in SUM_TOLERANCE:
        raise TypeError(f"{name} must be of {', '.join(SUM_TOLERANCE)}; got {dtype_name(x)}. Convert it first.")
    return x


def shape(x: Array, axes: str, name: str = "predictions") -> None:
    """Check that `x` has the axes that are named, such as "n k c", none of them empty.

    Raises:
        ValueError: if an axis is missing, too many or empty.
    """
    words = {"n": "candidates", "k": "draws", "c": "classes", "m": "configurations", "t": "targets", "l": "outputs"}
    wanted = f"({', '.join(axes.split())}) = ({', '.join(words[a] for a in axes.split())})"
    if x.ndim != len(axes.split()):
        hint = {
            ("n k c", 2): 'For one model add the axis: einops.rearrange(p, "n c -> n 1 c").',
            ("k c", 3): "Append one candidate at a time: predictions[i].",
        }.get((axes, x.ndim), "")
        raise ValueError(f"{name} must have shape {wanted}; got {tuple(x.shape)}. {hint}".rstrip())
    if 0 in x.shape:
        empty = words[axes.split()[tuple(x.shape).index(0)]]
        raise ValueError(f"{name} must have shape {wanted}; got {tuple(x.shape)}, which holds no {empty}.")


def probabilities(x: object, axes: str = "n k c", name: str = "predictions", index: np.ndarray | None = None) -> Array:
    """`x`, known to be probabilities with these axes: rows of the last one are not negative and sum to one.

    `index` says where in the pool the candidates are, if not at 0, 1, 2 …

    Raises:
        TypeError: if it is no floating-point array.
        ValueError: if its shape is another, or a row is no probability distribution.
    """
    p = floating_array(x, name)
    shape(p, axes, name)
    tolerance = SUM_TOLERANCE[dtype_name(p)]
    xp, start = namespace(p), 0
    for block in blocks(p if p.ndim > 1 else p[None, :]):
        right = _are_distributions(block, tolerance)
        if right is not None:
            wrong = np.argwhere(~np.asarray(to_host(xp.astype(right, block.dtype)), dtype=bool))[0]
            first = start + int(wrong[0])
            position = [first if index is None else int(index[first]), *wrong[1:].tolist()]
            raise ValueError(_row_error(to_host(block)[tuple(wrong)], position, axes, name, tolerance))
        start += block.shape[0]
    return p


def _are_distributions(block: Array, tolerance: float) -> Array | None:
    """None if all rows of `block` are probability distributions, else whether each is."""
    xp = namespace(block)
    # A matrix product with ones: summing over a short last axis is several times slower, and so is its minimum.
    if bool(xp.min(block) >= 0.0):
        total = xp.matmul(block, xp.ones_like(block[(0,) * (block.ndim - 1) + (...,)]))
        if bool(xp.all(xp.abs(total - 1.0) <= tolerance)):
            return None
    right = (xp.abs(xp.sum(block, axis=-1) - 1.0) <= tolerance) & (xp.min(block, axis=-1) >= 0.0)
    return None if bool(xp.all(right)) else right


def _row_error(row: np.ndarray, position: list[int], axes: str, name: str, tolerance: float) -> str:
    """What is wrong with the row of class probabilities `row`, found at `position`, and the way out."""
    words = {"n": "candidate", "k": "draw", "t": "target", "l": "output"}
    where = ", ".join(f"{words[a]} {i}" for a, i in zip(axes.split()[:-1], position, strict=False)) or "the row"
    shown = np.array2string(row[:6], precision=4, separator=", ") + (" …" if row.size > 6 else "")
    if not np.isfinite(row).all():
        if (row <= 0).all():
            problem, way_out = (
                "is minus infinity somewhere",
                "For log-probabilities use infoacq.from_log_probs.",
            )
        else:
            problem, way_out = "is not finite", "Remove the candidate, or find out why the model gave it NaN."
    elif (row <= 0).all() and abs(np.exp(row).sum() - 1) < 0.1:
        problem, way_out = "looks like log-probabilities", "Use infoacq.from_log_probs."
    elif (row == 0).all():
        problem, way_out = "is 0 for every class", "It was perhaps never written: is the file or store complete?"
    elif (row < 0).any():
        problem, way_out = "has negative entries", "For logits use infoacq.from_logits."
    else:
        problem = f"sums to {row.sum():.6g}, not to 1 within {tolerance:g}"
        way_out = "For logits use infoacq.from_logits; for rounded probabilities divide each row by its sum."
    return f"{name} must be probabilities; {where} {problem}: {shown}. {way_out}"


def log_probabilities(x: object, name: str = "log_probs", index: np.ndarray | None = None) -> Array:
    """`x`, known to be a floating-point array (n, k, c) without NaN, plus infinity or values above rounding of 0.

    Raises:
        TypeError: if it is no floating-point array.
        ValueError: if its shape is another, or a value is no log-probability.
    """
    lp = floating_array(x, name)
    shape(lp, "n k c", name)
    xp = namespace(lp)
    _no_bad_value(lp, xp.isnan(lp) | (lp > SUM_TOLERANCE[dtype_name(lp)]), name, "log-probabilities (≤ 0)", index)
    return lp


def logits(x: object, name: str = "logits", index: np.ndarray | None = None) -> Array:
    """`x`, known to be a floating-point array (n, k, c) of which every row has a finite largest value.

    Raises:
        TypeError: if it is no floating-point array.
        ValueError: if its shape is another, a value is NaN or plus infinity, a row is all minus infinity, or all rows
            are probabilities.
    """
    z = floating_array(x, name)
    shape(z, "n k c", name)
    xp = namespace(z)
    dead = xp.max(z, axis=-1, keepdims=True) == -math.inf
    bad = xp.isnan(z) | (z == math.inf) | dead
    _no_bad_value(z, bad, name, "logits (finite, or −inf for a class ruled out)", index)
    whole = index is None and z.shape[-1] > 1  # of a few candidates it could be chance
    if whole and all(_are_distributions(block, SUM_TOLERANCE[dtype_name(z)]) is None for block in blocks(z)):
        raise ValueError(
            f"{name}: every row is non-negative and sums to one: these are probabilities, and a softmax would flatten "
            "them. Use infoacq.from_probs."
        )
    return z


def _no_bad_value(x: Array, bad: Array, name: str, wanted: str, index: np.ndarray | None) -> None:
    xp = namespace(x)
    if bool(xp.any(bad)):
        n, k, c = np.argwhere(np.asarray(to_host(xp.astype(bad, xp.float32)), dtype=bool))[0]
        value = float(x[int(n), int(k), int(c)])
        raise ValueError(
            f"{name} must be {wanted}; candidate {n if index is None else index[n]}, draw {k}, class {c} is {value:g}. "
            "Probabilities go to infoacq.from_probs, log-probabilities to from_log_probs, logits to from_logits."
        )


def same_place(x: Array, y: Array, x_name: str, y_name: str) -> None:
    """Check that two arrays can be computed with together.

    Raises:
        ValueError: if they have different makers or lie on different devices.
    """
    if place(x) != place(y):
        raise ValueError(
            f"{x_name} and {y_name} must be arrays of one library on one device; "
            f"got {place(x)} and {place(y)}. Move one of them first."
        )


def draws(given: int, wanted: int, name: str = "predictions") -> None:
    """Check that predictions are under as many draws as those they are joined with.

    Raises:
        ValueError: if they are not.
    """
    if given != wanted:
        raise ValueError(
            f"{name} must be under the same {wanted} draws as the points chosen so far; got {given} draws. "
            "Predict both under one set of masks (or one ensemble)."
        )


def draw_weights(weights: object, predictions: Array) -> Array:
    """`weights`, known to be one probability a draw of `predictions`.

    Raises:
        TypeError: if it is no floating-point array.
        ValueError: if it is not one probability a draw, or lies elsewhere than the predictions.
    """
    w = probabilities(weights, "k", "weights")
    same_place(w, predictions, "weights", "predictions")
    draws(w.shape[0], predictions.shape[1], "weights")
    return w
