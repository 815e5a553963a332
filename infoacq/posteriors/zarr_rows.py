"""Predictions of a large pool into a Zarr store: chunk by chunk, by one process or by many at once.

    array = zarr_rows.create("s3://bucket/pool.zarr", len(inputs), draws=20, classes=10)      # once

    rows = zarr_rows.rows_of(array, rank, world_size)                     # in each process, of torchrun for example
    part = zarr_rows.Part(array, rows.start, rows.stop)
    mc_dropout.predict_probs(model, inputs[rows], draws=20, seed=0, out=part)

    zarr_rows.check_complete(array)                                       # at the end

Draws depend on the seed alone, so all parts are under the same parameters. Beside the predictions lies, for each chunk,
a checksum of the inputs that it was made from: the same call goes on where it was stopped, whoever did the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RECORD, NOT_WRITTEN = "inputs_crc32", -1


@dataclass(frozen=True)
class Part:
    """The rows of a Zarr array that a call is to write: whole chunks."""

    array: Any
    start: int
    stop: int

    def __post_init__(self) -> None:
        chunk = chunk_rows(self.array)
        fits = self.start % chunk == 0 and (self.stop % chunk == 0 or self.stop == self.array.shape[0])
        if not (0 <= self.start <= self.stop <= self.array.shape[0] and (fits or self.start == self.stop)):
            raise ValueError(
                f"a part must be whole chunks of {chunk} of the {self.array.shape[0]} candidates; got {self.start} … "
                f"{self.stop}. rows_of(array, worker, workers) gives such parts."
            )


def create(store: Any, candidates: int, draws: int, classes: int, *, chunk: int = 4096, dtype: str = "float16") -> Any:
    """A new Zarr array (n, k, c) named "probs" in a group of its own, and beside it the record of what is written.

    Raises:
        FileExistsError: if something is in the store.
        ValueError: if a size is not above 0, or `dtype` is no floating one.
    """
    import zarr

    for name, size in (("candidates", candidates), ("draws", draws), ("classes", classes), ("chunk", chunk)):
        if size < 1:
            raise ValueError(f"{name} must be at least 1; got {size}.")
    if np.dtype(dtype).kind != "f":
        raise ValueError(f"dtype must be a floating one, such as 'float16'; probabilities in {dtype} would all be 0.")
    try:
        group = zarr.create_group(store)
    except (zarr.errors.ContainsGroupError, zarr.errors.ContainsArrayError) as error:
        raise FileExistsError(
            f"{store} is in use already: zarr.open_group({str(store)!r})['probs'] opens it, or choose another."
        ) from error
    chunks = (min(chunk, candidates), draws, classes)
    array = group.create_array("probs", shape=(candidates, draws, classes), chunks=chunks, dtype=dtype)
    number = -(-candidates // chunks[0])
    group.create_array(RECORD, shape=(number,), chunks=(1,), dtype="int64", fill_value=NOT_WRITTEN)
    return array


def rows_of(array: Any, worker: int, workers: int) -> slice:
    """The rows that are this worker's, of workers 0, 1, …: whole chunks, about as many each; perhaps none.

    Raises:
        ValueError: if there is no such worker.
    """
    if not 0 <= worker < workers:
        raise ValueError(f"worker must be one of 0 … {workers - 1}; got {worker}.")
    chunk, record = chunk_rows(array), record_of(array)
    first, last = (record.shape[0] * (worker + i) // workers for i in (0, 1))
    return slice(*(min(i * chunk, array.shape[0]) for i in (first, last)))


def missing(array: Any) -> list[slice]:
    """The rows, chunk by chunk, that have not been written."""
    chunk, size = chunk_rows(array), array.shape[0]
    absent = np.flatnonzero(record_of(array)[:] == NOT_WRITTEN).tolist()
    return [slice(i * chunk, min((i + 1) * chunk, size)) for i in absent]


def check_complete(array: Any) -> None:
    """Check that every row was written.

    Raises:
        ValueError: if some were not; which is said.
    """
    absent = missing(array)
    if absent:
        shown = ", ".join(f"{rows.start} … {rows.stop - 1}" for rows in absent[:5])
        left = sum(rows.stop - rows.start for rows in absent)
        raise ValueError(
            f"{left} of the {array.shape[0]} candidates are not written: {shown}{' …' if len(absent) > 5 else ''}. "
            "Predict these parts; what is there is not computed again."
        )


def chunk_rows(array: Any) -> int:
    """How many candidates are written at once."""
    return int((array.shards or array.chunks)[0])


def record_of(array: Any) -> Any:
    """The checksums beside the array.

    Raises:
        ValueError: if there are none.
    """
    import zarr

    path = f"{array.path.rpartition('/')[0]}/{RECORD}".lstrip("/")
    try:
        return zarr.open_array(array.store, path=path, mode="r" if array.read_only else "r+")
    except FileNotFoundError as error:
        raise ValueError(
            f"{array!r} has no record of what is written, {RECORD}, beside it; zarr_rows.create makes one with it."
        ) from error
