"""Reading the pool: a tensor or a loader, as blocks of inputs in the loader's order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any
from zlib import crc32

import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

_BLOCK_ROWS = 256
_TENSOR_BLOCK_BYTES = 16 * 2**20  # what is read at once from a tensor
_MERGED_BYTES = 2**20  # small batches of a loader are put together up to this size


def blocks(loader_or_tensor: Iterable[Any] | Tensor) -> Iterator[Tensor]:
    """The pool cut to at most 256 candidates; a loader may yield its inputs alone or first in a tuple.

    Raises:
        TypeError: a batch holds something else.
    """
    if isinstance(loader_or_tensor, Tensor):
        row_bytes = max(1, prod(loader_or_tensor.shape[1:]) * loader_or_tensor.element_size())
        batches = iter(torch.split(loader_or_tensor, max(1, min(_BLOCK_ROWS, _TENSOR_BLOCK_BYTES // row_bytes))))
    else:
        batches = _merged(_inputs(loader_or_tensor))
    for batch in batches:
        if len(batch):
            yield from torch.split(batch, _BLOCK_ROWS)


def _inputs(loader: Iterable[Any]) -> Iterator[Tensor]:
    for batch in loader:
        inputs = batch[0] if isinstance(batch, (tuple, list)) and batch else batch
        if not isinstance(inputs, Tensor):
            way_out = "Wrap the loader in a generator that yields the model's input tensor."
            if hasattr(inputs, "__array__"):
                way_out = "torch.from_numpy makes a tensor of a NumPy array, which the whole pool may be."
            raise TypeError(
                f"a batch must be a tensor or a tuple that starts with one; got {type(batch).__name__}. {way_out}"
            )
        yield inputs


def _merged(batches: Iterator[Tensor]) -> Iterator[Tensor]:
    held: list[Tensor] = []
    for batch in map(torch.clone, batches):  # a loader may fill one and the same tensor again and again
        rows = sum(map(len, held)) + len(batch)
        size = sum(part.nbytes for part in held) + batch.nbytes
        if held and (rows > _BLOCK_ROWS or size > _MERGED_BYTES or held[0].shape[1:] != batch.shape[1:]):
            yield _together(held)
            held = []
        held.append(batch)
    if held:
        yield _together(held)


def _together(batches: list[Tensor]) -> Tensor:
    return batches[0] if len(batches) == 1 else torch.cat(batches)


@dataclass
class Reader:
    """Blocks of inputs, counted; with a checksum of them where the predictions go to a file.

    What is written lags behind what is read, by whole blocks and by parts of one: the checksum is that of the inputs
    whose predictions are in the file, or a file could not be gone on with.
    """

    blocks: Iterator[Tensor]
    with_checksum: bool
    rows: int = 0  # that were read
    _checksum: int = 0
    _unwritten: deque[Tensor] = field(default_factory=deque)

    def after(self, rows: int, checksum: int) -> Iterator[Tensor]:
        """The blocks that follow `rows` candidates which are done already.

        Raises:
            ValueError: the inputs of those had another checksum, or there are not so many.
        """
        for block in self.blocks:
            left = max(0, rows - self.rows)
            done, rest = block[:left], block[left:]
            self.rows += len(done)
            self._add(done)
            if self.rows == rows and self._checksum != checksum:
                break
            if len(rest):
                self.rows += len(rest)
                if self.with_checksum:
                    self._unwritten.append(rest)
                yield rest
        if self.rows < rows or (self.rows == rows and self._checksum != checksum):
            raise ValueError(
                f"the pool does not begin with the {rows} candidates that out holds already. Give the loader the order "
                "that it had (no shuffling), or remove out with its .json to start again."
            )

    def checksum_behind(self, rows: int) -> int:
        """That of all inputs up to and including the next so many, whose predictions are to be written."""
        while rows and self.with_checksum:
            block = self._unwritten.popleft()
            self._add(block[:rows])
            if len(block) > rows:
                self._unwritten.appendleft(block[rows:])
            rows -= min(rows, len(block))
        return self._checksum

    def _add(self, block: Tensor) -> None:
        if self.with_checksum and len(block):
            numbers = block.cpu().contiguous().flatten().view(torch.uint8).numpy().data
            self._checksum = crc32(numbers, self._checksum)


def pool_size(loader_or_tensor: Iterable[Any] | Tensor) -> int | None:
    """The number of candidates, or None where only reading them would tell.

    Raises:
        ValueError: the loader would leave candidates out.
    """
    if isinstance(loader_or_tensor, Tensor):
        return len(loader_or_tensor)
    if not isinstance(loader_or_tensor, DataLoader) or isinstance(loader_or_tensor.dataset, IterableDataset):
        return None
    if loader_or_tensor.batch_size is None:  # batches made by the data set or by a sampler of the user's own
        return None
    size = len(loader_or_tensor.sampler)  # type: ignore[arg-type]
    if loader_or_tensor.drop_last and size % loader_or_tensor.batch_size:
        left = size % loader_or_tensor.batch_size
        raise ValueError(
            f"the loader drops its last batch, so {left} of {size} candidates would have no predictions. "
            "Make it with drop_last=False."
        )
    return size
