"""Room for intermediate results, used again and again: fresh pages cost more time than the arithmetic on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

import torch
from torch import Tensor


class Rooms:
    """Uninitialised tensors, each for one holder at a time; any thread may ask."""

    def __init__(self) -> None:
        self._free: defaultdict[tuple[int, torch.dtype], list[Tensor]] = defaultdict(list)

    def take(self, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        """A tensor of this shape with the dtype and device of another; whoever takes it gives it back."""
        size = prod(shape)
        capacity = 1 << (size - 1).bit_length()  # few sizes, so that a room is soon used again
        try:
            room = self._free[capacity, like.dtype].pop()
        except IndexError:
            room = like.new_empty(capacity)
        return room[:size].view(shape)

    def give(self, tensor: Tensor) -> None:
        """Take back a tensor that nobody reads any more."""
        room = tensor._base
        assert room is not None, "only what was taken is given back"
        self._free[len(room), room.dtype].append(room)

    @contextmanager
    def room(self, like: Tensor, shape: tuple[int, ...]) -> Iterator[Tensor]:
        """A tensor of this shape for as long as the block lasts."""
        taken = self.take(like, shape)
        try:
            yield taken
        finally:
            self.give(taken)
