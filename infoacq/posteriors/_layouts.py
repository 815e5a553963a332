"""Candidates side by side, as the kernels want them, and what the kernels give laid out for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod

import numpy as np
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._convolutions import Convolution
from infoacq.posteriors._planes_kernel import LANES, put
from infoacq.posteriors._rooms import Rooms

Columns = Float[np.ndarray, "_ n"]  # a column for each candidate


@contextmanager
def numpy_room(rooms: Rooms, like: Tensor, shape: tuple[int, ...], framed: bool = False) -> Iterator[np.ndarray]:
    with rooms.room(like, shape) as room:
        yield (room.zero_() if framed else room).numpy()


def side_by_side(x: Float[Tensor, "n i h w"], convolution: Convolution) -> Float[np.ndarray, "i hp wp lanes"]:
    """A group of candidates, as many as the kernel takes at once or filled up with zeros, on the last axis."""
    margins = (*convolution.margins, 0, 0, 0, LANES - len(x))  # in the order of F.pad
    padded = F.pad(x, margins) if any(margins) else x
    planes: np.ndarray = padded.permute(1, 2, 3, 0).contiguous().numpy()
    return planes


def candidates_last(room: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The start of a room, so laid out in memory; a linear layer reads it as fast that way."""
    return room[: prod(shape)].view(*shape[1:], shape[0]).movedim(-1, 0)


def columns(x: Float[Tensor, "n o *sides"]) -> Columns:
    """What lies in memory candidates last, a column for each of them."""
    of_numpy: np.ndarray = x.movedim(0, -1).flatten(0, -2).numpy()
    return of_numpy


def apart(planes: Float[np.ndarray, "o h w lanes"], start: int, out: Columns) -> None:
    """Fill columns from `start` on."""
    put(planes.reshape(-1, LANES), start, out)
