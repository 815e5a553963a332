"""Checks of predictions that are read from files and stores."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from infoacq._arrays import dtype_name
from infoacq.checks.predictions import SUM_TOLERANCE, shape


def stored(x: Any, name: str = "predictions") -> None:
    """Check that `x`, which is not in memory, holds predictions (n, k, c), and all of them.

    Raises:
        TypeError: if it holds no floating-point numbers.
        ValueError: if its shape is another or not known, or chunks of it are missing.
    """
    if dtype_name(x) not in SUM_TOLERANCE:
        raise TypeError(f"{name} must be of {', '.join(SUM_TOLERANCE)}; got {dtype_name(x)}. Convert it first.")
    if any(math.isnan(length) for length in x.shape):
        raise ValueError(f"{name} must have a known shape; got {x.shape}. For a Dask array: x.compute_chunk_sizes().")
    shape(x, "n k c", name)
    # A Zarr array reads chunks that are missing as its fill value, which could pass for logits.
    there, wanted = getattr(x, "nchunks_initialized", None), getattr(x, "nchunks", None)
    if there is not None and wanted is not None and there < wanted:
        raise ValueError(
            f"{wanted - there} of the {wanted} chunks of {x!r} are missing: it is cut off, or not all was written. "
            "Write the rest first: predict_probs(..., out=array) goes on where it stopped."
        )


@contextmanager
def readable(source: object, start: int, stop: int) -> Iterator[None]:
    """Say which candidates could not be read, whatever the store raises.

    Raises:
        OSError: in place of that.
    """
    try:
        yield
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


def dask_pool(pool: Any, array_type: type) -> Any:
    """`pool`, known to be read from a Dask array.

    Raises:
        TypeError: if it is not.
    """
    if not isinstance(getattr(pool, "source", None), array_type):
        raise TypeError(
            f"pool must be a Dask array, or from_logits(...) of one; got {type(pool).__name__}. "
            "dask.array.from_zarr and dask.array.from_array make one; infoacq.select_batch takes arrays as they are."
        )
    return pool


def same_version(of_workers: dict[str, Any], ours: str) -> None:
    """Check that all workers have this version of infoacq.

    Raises:
        RuntimeError: if one has another, or none.
    """
    for worker, version in of_workers.items():
        if version != ours:
            theirs = f"infoacq {version}" if isinstance(version, str) else f"no infoacq ({version!r})"
            raise RuntimeError(
                f"the worker {worker} has {theirs}, this process has infoacq {ours}: what they send each other "
                f"could be misread. Install infoacq=={ours} on all workers."
            )
