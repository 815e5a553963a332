"""Writing predictions into a Zarr array: one chunk after the other, each with the checksum of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias
from zlib import crc32

import torch
from jaxtyping import Float
from torch import Tensor
from tqdm import tqdm

from infoacq.posteriors._inputs import blocks
from infoacq.posteriors._npy import Facts
from infoacq.posteriors.zarr_rows import NOT_WRITTEN, Part, chunk_rows, record_of

Predict: TypeAlias = Callable[[Tensor], Float[Tensor, "n k c"]]
MADE_FROM = "made_from"


def as_part(out: Any) -> Part | None:
    """The part that `out` stands for, if it is a Zarr array or a part of one."""
    if type(out).__module__.partition(".")[0] == "zarr":
        return Part(out, 0, out.shape[0])
    return out if isinstance(out, Part) else None


def check_same_draws(consistent: bool, dtype: torch.dtype | None) -> None:
    """Check what a call asks beside a Zarr array.

    Raises:
        ValueError: draws that differ from candidate to candidate would repeat in each chunk; the array has its dtype.
    """
    if not consistent:
        raise ValueError("out must be no Zarr array where consistent=False: its chunks are under the same draws.")
    if dtype is not None:
        raise ValueError("dtype is that of the Zarr array: zarr_rows.create(..., dtype='float16').")


def write(part: Part, pool: Iterable[Any] | Tensor, predict: Predict, facts: Facts, *, progress: bool) -> Any:
    """Write what `predict` gives for each chunk of the inputs that is not written; return the whole array.

    Raises:
        OSError: there is no room; what is written stays.
        ValueError: the array was begun by another call or with other inputs, or the inputs are more or fewer.
    """
    writer = _Writer(part.array, record_of(part.array), chunk_rows(part.array), predict)
    noted = _same_call(part.array, facts)
    try:
        start = _write_chunks(writer, part, pool, progress=progress)
    except BaseException:
        if noted and not (writer.record[:] != NOT_WRITTEN).any():
            del part.array.attrs[MADE_FROM]  # nothing was made: the next call is free to be another
        raise
    if start < part.stop:
        raise ValueError(f"out has room for {part.stop - part.start} candidates; the pool has fewer.")
    _same_call(part.array, facts)  # two calls that began at the same time do not pass both
    return part.array


def _write_chunks(writer: _Writer, part: Part, pool: Iterable[Any] | Tensor, *, progress: bool) -> int:
    """Write chunk after chunk; return the row behind the last one."""
    start = part.start
    with tqdm(total=part.stop - part.start, unit="candidate", disable=not progress) as bar:
        for inputs in _in_chunks(blocks(pool), writer.chunk):
            stop = start + len(inputs)
            if stop > part.stop:
                raise ValueError(f"out has room for {part.stop - part.start} candidates; the pool has more.")
            if len(inputs) < writer.chunk and stop < part.stop:
                break
            writer.write(start, stop, inputs)
            bar.update(len(inputs))
            start = stop
    return start


@dataclass(frozen=True)
class _Writer:
    array: Any
    record: Any
    chunk: int
    predict: Predict

    def write(self, start: int, stop: int, inputs: Tensor) -> None:
        """Write one chunk, unless it is there already."""
        number = start // self.chunk
        checksum = crc32(inputs.cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        stored = int(self.record[number])
        if stored not in (NOT_WRITTEN, checksum):
            raise ValueError(
                f"the candidates {start} … {stop - 1} of out were predicted from other inputs. Give the inputs the "
                "order that they had (no shuffling), or write to another array."
            )
        if stored == NOT_WRITTEN:
            probs = self.predict(inputs)
            if tuple(probs.shape[1:]) != tuple(self.array.shape[1:]):
                wanted = ("n", *self.array.shape[1:])
                raise ValueError(f"out is for draws and classes {wanted}; the model gives {tuple(probs.shape)}.")
            try:
                self.array[start:stop] = probs.numpy()
                self.record[number] = checksum  # only now: a chunk without it is computed again
            except OSError as error:
                raise OSError(
                    error.errno,
                    f"the candidates {start} … {stop - 1} could not be written ({error}). What was written before "
                    "stays: make room and call again, it goes on there",
                ) from error


def _in_chunks(batches: Iterator[Tensor], rows: int) -> Iterator[Tensor]:
    """The same inputs, `rows` at a time; fewer at the end."""
    held: list[Tensor] = []
    for batch in batches:
        while len(batch):
            taken = batch[: rows - sum(map(len, held))]
            held, batch = [*held, taken], batch[len(taken) :]
            if sum(map(len, held)) == rows:
                yield torch.cat(held)
                held = []
    if held:
        yield torch.cat(held)


def _same_call(array: Any, facts: Mapping[str, str | int | bool]) -> bool:
    """Note what the predictions are made from, and say so; if that is noted already, check that it is the same."""
    new = MADE_FROM not in array.attrs
    if new:
        array.attrs[MADE_FROM] = dict(facts)
    made_from = type(array).open(array.store_path).attrs[MADE_FROM]  # as others have left it
    for name, value in facts.items():
        if made_from.get(name) != value:
            raise ValueError(
                f"out was begun with {name} = {made_from.get(name)!r}, this call has {value!r}. Choose another array."
            )
    return new
