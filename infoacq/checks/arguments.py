"""Checks of numbers and positions that a caller gives."""

import reprlib
from collections.abc import Iterable, Iterator, Sequence
from typing import SupportsIndex

import numpy as np


def whole_number(value: object, name: str, least: int = 1) -> int:
    """`value` as an int, known to be a whole number of at least `least`.

    Raises:
        TypeError: if it is no whole number.
        ValueError: if it is smaller than `least`.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}.")
    return int(value)


def positions(values: Iterable[SupportsIndex], size: int, name: str, of: str = "the pool") -> np.ndarray:
    """`values` as an int64 array, known to be distinct positions in `of`, which has `size` of them.

    Raises:
        TypeError: if one is no whole number.
        ValueError: if one is negative, too large or comes twice.
    """
    try:
        array = np.asarray(list(values))
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be several whole numbers, such as [3, 5]; got {values!r}.") from error
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers; got {array.dtype} of shape {array.shape}.")
    outside = array[(array < 0) | (array >= size)]
    if outside.size:
        raise ValueError(f"{name} must lie in 0 … {size - 1}, as {of} has {size}; got {outside[:5].tolist()}.")
    found, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"{name} must not come twice; got {found[counts > 1][:5].tolist()} more than once.")
    return array.astype(np.int64)


def several(values: object, name: str, such_as: str) -> None:
    """Check that `values` can be gone through again and again, as a list can.

    Raises:
        TypeError: if they are one thing and not several, or an iterator, which is empty after its first use.
    """
    if not (hasattr(values, "__iter__") or hasattr(values, "__getitem__")):
        raise TypeError(f"{name} must be several, such as {such_as}; got {reprlib.repr(values)}.")
    if isinstance(values, Iterator):
        raise TypeError(
            f"{name} must be a list: an iterator is empty after its first use; got {values!r}. Write list(…)."
        )


def fits_in_pool(batch_size: int, size: int, pending: Sequence[int] | np.ndarray) -> None:
    """Check that a batch can be had from what the pool still offers.

    Raises:
        ValueError: if the batch is larger.
    """
    left = size - len(pending)
    if batch_size > left:
        waiting = f" ({size} less {len(pending)} pending)" if len(pending) else ""
        raise ValueError(
            f"batch_size must be at most the {left} candidates left in the pool{waiting}; got {batch_size}. "
            f"Ask for batch_size={left} to take them all."
            if left
            else f"the pool has no candidate left to choose{waiting}; batch_size was {batch_size}."
        )


def disjoint(first: np.ndarray, second: np.ndarray, first_name: str, second_name: str) -> None:
    """Check that two sets of indices share none.

    Raises:
        ValueError: if they do.
    """
    both = np.intersect1d(first, second)
    if both.size:
        raise ValueError(f"{first_name} and {second_name} must not share indices; both hold {both[:5].tolist()}.")


def enough(available: int, wanted: int, name: str, of: str) -> None:
    """Check that as many are there as are wanted.

    Raises:
        ValueError: if there are fewer.
    """
    if wanted > available:
        raise ValueError(f"{name} must be at most {available}, the number of points in {of}; got {wanted}.")
