"""Checks of real numbers that a caller gives beside predictions: weights, costs, temperatures."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq._arrays import is_array, to_host


def real_number(
    value: object, name: str, least: float = -math.inf, above: float = -math.inf, below: float = math.inf
) -> float:
    """`value` as a float, known to be finite, at least `least`, above `above` and below `below`.

    Raises:
        TypeError: if it is no number.
        ValueError: if it is not finite, too small or too large.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    if not math.isfinite(value) or value < least or value <= above or value >= below:
        bounds = [
            f"of at least {least:g}" if least > -math.inf else "",
            f"above {above:g}" if above > -math.inf else "",
            f"below {below:g}" if below < math.inf else "",
        ]
        wanted = " and ".join(bound for bound in bounds if bound)
        raise ValueError(f"{name} must be a finite number {wanted}".rstrip() + f"; got {value}.")
    return float(value)


def numbers(values: Any, name: str) -> Float[np.ndarray, " n"]:
    """`values` as a new float64 array of the host, known to be one row of finite numbers.

    Raises:
        TypeError: if they are no numbers.
        ValueError: if they have another shape, or one is not finite.
    """
    try:
        array = to_host(values) if is_array(values) and "float" in str(values.dtype) else np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be several numbers, such as [1.0, 2.5]; got {values!r}.") from error
    if array.ndim != 1:
        raise ValueError(f"{name} must be one row of numbers; got shape {array.shape}.")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise ValueError(f"{name} must be finite; number {bad[0]} is {array[bad[0]]} ({bad.size} such numbers).")
    return array


def one_each(values: np.ndarray, count: int, name: str, of: str) -> None:
    """Check that there are `count` of `values`.

    Raises:
        ValueError: if there are not.
    """
    if len(values) != count:
        raise ValueError(f"{name} must hold one entry for each of the {count} {of}; got {len(values)}.")


def relative_weights(values: Any, count: int, of: str) -> Float[np.ndarray, " n"]:
    """`values` divided by their sum, known to be `count` numbers that are not negative; alike if None.

    Raises:
        TypeError: if they are no numbers.
        ValueError: if there are not `count` of them, one is negative or not finite, or all are 0.
    """
    if values is None:
        return np.full(count, 1.0 / count)
    weights = numbers(values, "weights")
    one_each(weights, count, "weights", of)
    if (weights < 0).any() or not weights.any():
        raise ValueError(f"weights must not be negative, nor all 0; the smallest is {weights.min():g}.")
    relative: np.ndarray = weights / weights.sum()
    return relative


def costs(values: Any) -> Float[np.ndarray, " n"]:
    """`values` as a float64 array of the host, known to be finite and above 0.

    Raises:
        TypeError: if they are no numbers.
        ValueError: if one is not finite and above 0, or there is none.
    """
    array = numbers(values, "cost")
    bad = np.flatnonzero(array <= 0)
    if bad.size or not array.size:
        shown = f"candidate {bad[0]} costs {array[bad[0]]:g}" if bad.size else "there is none"
        raise ValueError(f"cost must be above 0 for each candidate; {shown}. Give free ones a small cost.")
    return array
