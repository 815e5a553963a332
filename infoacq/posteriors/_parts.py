"""A tensor of which only some channels are held, because a draw has dropped the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node


@dataclass(frozen=True)
class Part:
    """`scale * tensor` at the channels `kept` (axis 1) of a tensor of `width` channels that is zero elsewhere.

    While `until` is a dropout node, the other channels were never computed: that node will drop them.
    """

    tensor: Tensor
    width: int
    kept: Tensor | None = None  # None: all channels
    scale: float = 1.0
    until: Node | None = None

    @classmethod
    def whole(cls, tensor: Tensor) -> Part:
        """All channels of a tensor."""
        return cls(tensor, tensor.shape[1] if tensor.ndim > 1 else 0)

    @property
    def shape(self) -> torch.Size:
        """The shape that the model sees."""
        shape = self.tensor.shape
        return shape if self.kept is None else torch.Size((shape[0], self.width, *shape[2:]))

    def scaled(self) -> Part:
        """The same with nothing left to multiply."""
        return self if self.scale == 1.0 else replace(self, tensor=self.tensor * self.scale, scale=1.0)

    def dense(self) -> Tensor:
        """The tensor that the model sees."""
        tensor = self.scaled().tensor
        if self.kept is None:
            return tensor
        assert self.until is None, "channels that were never computed are not zero"
        return tensor.new_zeros(self.shape).index_copy_(1, self.kept, tensor)

    def flat(self) -> Part:
        """All axes but the first as one."""
        if self.kept is None:
            flat = self.tensor.flatten(1)
            return replace(self, tensor=flat, width=flat.shape[1])
        size = prod(self.tensor.shape[2:])
        kept = (self.kept[:, None] * size + torch.arange(size, device=self.kept.device)).flatten()
        return Part(self.tensor.flatten(1), self.width * size, kept, self.scale)


def dense(value: Any) -> Any:
    """What the model sees in place of a value that may be a Part."""
    return value.dense() if isinstance(value, Part) else value
