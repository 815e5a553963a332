"""Checks of predictions that are read from files and stores."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infoacq._arrays import dtype_name
from infoacq.checks.clusters import ClusterLostError
from infoacq.checks.predictions import SUM_TOLERANCE, shape


def stored(x: Any, name: str = "predictions") -> None:
    """Check that `x`, which is not in memory, holds predictions (n, k, c).

    Raises:
        TypeError: if it holds no floating-point numbers.
        ValueError: if its shape is another or not known.
    """
    if dtype_name(x) not in SUM_TOLERANCE:
        raise TypeError(f"{name} must be of {', '.join(SUM_TOLERANCE)}; got {dtype_name(x)}. Convert it first.")
    if any(math.isnan(length) for length in x.shape):
        raise ValueError(f"{name} must have a known shape; got {x.shape}. For a Dask array: x.compute_chunk_sizes().")
    shape(x, "n k c", name)


def all_written(x: Any, *, zeros_are_refused: bool) -> None:
    """Check that no chunk of a Zarr array is missing, which it would read as zeros.

    Zarr leaves out chunks of zeros alone, such as those of a class that is impossible where classes are in chunks of
    their own: if zeros are refused when they are read, they are left to that.

    Raises:
        ValueError: if chunks are missing.
    """
    there, wanted = getattr(x, "nchunks_initialized", None), getattr(x, "nchunks", None)
    if there is None or wanted is None or there >= wanted or (zeros_are_refused and x.chunks[2] < x.shape[2]):
        return
    zeros = (
        "" if zeros_are_refused else ", or holds zeros alone, which Zarr keeps if config={'write_empty_chunks': True}"
    )
    raise ValueError(
        f"{wanted - there} of the {wanted} chunks of {x!r} are missing: it is cut off, or not all was written{zeros}. "
        "Write the rest first: predict_probs(..., out=array) goes on where it stopped."
    )


@contextmanager
def readable(source: object, start: int, stop: int) -> Iterator[None]:
    """Say which candidates could not be read, whatever the store raises.

    Raises:
        OSError: in place of that.
        ClusterLostError: as it is: it is not the store's.
    """
    try:
        yield
    except ClusterLostError:
        raise
    except Exception as error:
        raise unreadable(start, stop, repr(source), error) from error


def unreadable(start: int, stop: int, where: str, error: BaseException) -> OSError:
    """The error for candidates that could not be read."""
    shown = where if len(where) <= 200 else f"{where[:200]} …"
    return OSError(
        f"candidates {start} … {stop - 1} cannot be read from {shown}: {type(error).__name__}: {error}. The file or "
        "store may be cut off or spoilt there: write these candidates again, or leave them out."
    )


def file_reaches(path: Path, end: int) -> None:
    """Check that a file has not become shorter than what is to be read of it.

    Raises:
        OSError: if it has.
    """
    if path.exists() and path.stat().st_size < end:
        raise OSError(f"{path} has {path.stat().st_size} bytes, {end} are wanted: it has been cut off.")


def block_shape(given: tuple[int, ...], wanted: tuple[int, ...], start: int) -> None:
    """Check that a shard has the candidates, draws and classes that its store announces.

    Raises:
        ValueError: if it has others.
    """
    if given != wanted:
        raise ValueError(
            f"the shard from candidate {start} on must have shape (n, k, c) = {wanted}, as the whole says; "
            f"got {given}. Predict all shards under the same draws, for the same classes."
        )
