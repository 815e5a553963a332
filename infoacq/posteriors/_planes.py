"""Convolutions of candidates side by side: those behind the first dropout for many draws at once, and those of images.

The input of the first is the same for all draws but for the channels that are dropped, and it is linear in them: what
each input channel adds to each output channel is computed once, and a draw's output is the sum over the channels that
it keeps. For a 5x5 kernel that is a sixth of the work of one convolution a draw. The convolutions behind it read what
is still near the processor.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._convolutions import Convolution
from infoacq.posteriors._first_convolution import MIN_CANDIDATES, FirstConvolution
from infoacq.posteriors._layers import Stage, layer_of_all, scale, stages, wanted_sums
from infoacq.posteriors._parts import Part
from infoacq.posteriors._planes_kernel import LANES, Wanted, add_up, put
from infoacq.posteriors._rooms import Rooms
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._threads import Map, fitting_number, workers
from infoacq.posteriors._winograd_kernel import GROWTH, convolve

_LARGEST = 40.0  # times the mean of a candidate: from there on tiles in float32 may be off by more than 1e-5
NEAR_BYTES = 64 * 2**20  # what the planes of some draws may take, to be still near the processor when they are read

_log = logging.getLogger(__name__)


class _Draws(NamedTuple):
    """Some draws, as the kernels have to know them."""

    places: slice  # among all draws
    wanted: Wanted
    stages: list[Stage]


def ends_of_draws(
    first: FirstConvolution, draws: Sequence[Draw], blocks: Sequence[Float[Tensor, "_ i h w"]], in_threads: Map
) -> list[list[Part | None]]:
    """For each block, the value at `first.end` for each draw; None where it has to be found otherwise.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    suited = [suits(first.chain, x) for x in blocks]
    ends = [_unfilled(first, draws, x) if suit else _unknown(draws) for x, suit in zip(blocks, suited, strict=True)]
    if not any(suited):
        return ends
    some = max(1, NEAR_BYTES // (LANES * first.convolution.row_bytes))
    places = [slice(start, start + some) for start in range(0, len(draws), some)]
    known = in_threads(partial(_known, first, draws, blocks[0]), places)
    in_threads(
        lambda group: _fill(first, known, *group),
        [
            (x, start, parts)
            for x, parts, suit in zip(blocks, ends, suited, strict=True)
            if suit
            for start in range(0, len(x), LANES)
        ],
    )
    return ends


def end_of_all(convolution: Convolution, x: Float[Tensor, "n i h w"]) -> Float[Tensor, "n o oh ow"] | None:
    """The value at `convolution.end` where nothing is dropped; None where it has to be found otherwise."""
    if not suits((convolution,), x):
        return None
    channels = convolution.step.module.out_channels
    out = candidates_last(
        x.new_empty(len(x) * channels * prod(convolution.handed_on)), (len(x), channels, *convolution.handed_on)
    )
    keeps, stays = (torch.ones(1, number, dtype=torch.bool) for number in (x.shape[1], channels))
    left, right, _, _ = convolution.margins
    layer, wanted = layer_of_all(convolution, x.shape[3] + left + right), wanted_sums(convolution, keeps, stays)

    def fill(start: int) -> None:
        planes = side_by_side(x[start : start + LANES], convolution)
        room = np.empty((1, *out.shape[1:], LANES), planes.dtype)
        add_up(planes, layer, wanted, room)
        apart(room[0], out, start)

    with workers(fitting_number()) as in_threads:
        in_threads(fill, range(0, len(x), LANES))
    return out


def _known(first: FirstConvolution, draws: Sequence[Draw], x: Tensor, places: slice) -> _Draws:
    masks = [
        torch.stack([draw.mask(node, node.meta["shape"], x).flatten() for draw in draws[places]])
        for node in first.dropouts
    ]
    left, right, _, _ = first.convolution.margins
    wanted = wanted_sums(first.convolution, masks[0], masks[1])
    return _Draws(places, wanted, list(stages(first, masks, x.shape[3] + left + right)))


def _unfilled(first: FirstConvolution, draws: Sequence[Draw], x: Tensor) -> list[Part | None]:
    until, sides, width = first.last.until, first.last.handed_on, first.last.step.module.out_channels
    kept = [draw.kept_by(until, x) for draw in draws]
    most = max(0 if k is None else len(k) for k in kept)
    room = first.rooms.take(x, (len(draws), len(x) * max(1, most) * prod(sides)))
    return [
        None if k is None else Part(candidates_last(row, (len(x), len(k), *sides)), width, k, until=until)
        for k, row in zip(kept, room, strict=True)
    ]


def _unknown(draws: Sequence[Draw]) -> list[Part | None]:
    return [None] * len(draws)


def candidates_last(room: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The start of a room, so laid out in memory; a linear layer reads it as fast that way."""
    return room[: prod(shape)].view(*shape[1:], shape[0]).movedim(-1, 0)


def _fill(first: FirstConvolution, known: Sequence[_Draws], x: Tensor, start: int, ends: Sequence[Part | None]) -> None:
    """The ends of all draws for a group of candidates, for some draws after the others."""
    planes = side_by_side(x[start : start + LANES], first.convolution)
    for draws in known:
        shared, *own = draws.stages
        with ExitStack() as stack:
            room, *rooms = [
                stack.enter_context(numpy_room(first.rooms, x, stage.shape, stage.framed)) for stage in draws.stages
            ]
            add_up(planes, shared.layers[0], draws.wanted, room)
            for number, end in enumerate(ends[draws.places]):
                given = room[number, : shared.held[number]]
                for stage, out in zip(own, rooms, strict=True):
                    convolve(given, stage.layers[number], out)
                    given = out[: stage.held[number]]
                if end is not None:
                    apart(given, end.tensor, start)


def apart(planes: Float[np.ndarray, "o h w lanes"], out: Float[Tensor, "n o h w"], start: int) -> None:
    """Fill `out`, which lies in memory candidates last, from candidate `start` on."""
    put(planes.reshape(-1, LANES), start, out.movedim(0, -1).flatten(0, -2).numpy())


@contextmanager
def numpy_room(rooms: Rooms, like: Tensor, shape: tuple[int, ...], framed: bool = False) -> Iterator[np.ndarray]:
    with rooms.room(like, shape) as room:
        yield (room.zero_() if framed else room).numpy()


def suits(chain: Sequence[Convolution], x: Tensor) -> bool:
    """Whether the kernels may run a block; if not, debug messages say why."""
    dtypes = {convolution.step.module.weight.dtype for convolution in chain}
    if len(x) < MIN_CANDIDATES:
        reason = f"they run {LANES} side by side"
    elif dtypes != {x.dtype}:
        reason = f"its {x.dtype} meets other dtypes"
    elif not _stay_finite(chain, x):
        reason = "its sums may leave the floating-point numbers"
    elif len(chain) > 1 and _is_lopsided(x):
        reason = "beside its largest number tiles would round the others away"
    else:
        return True
    _log.debug("no kernels for a block of %d candidates: %s", len(x), reason)
    return False


def _stay_finite(chain: Sequence[Convolution], x: Tensor) -> bool:
    """Whether no sum can leave the numbers of the dtype: the kernels' maxima would hide what is none any more."""
    most = reached = torch.stack(x.aminmax()).abs().amax()
    for place, convolution in enumerate(chain):
        layer = convolution.step.module
        most = most * scale(convolution) * layer.weight.abs().sum((1, 2, 3)).amax()
        most = most if layer.bias is None else most + layer.bias.abs().amax()
        reached = torch.maximum(reached, most * (GROWTH if place else 1))  # those behind the first run in tiles
    return bool(reached.isfinite())


def _is_lopsided(x: Float[Tensor, "n i h w"]) -> bool:
    """Whether the error of a tile, which is in proportion to its largest number, may be large beside the others."""
    sizes = x.abs()
    return bool((sizes.amax((1, 2, 3)) > _LARGEST * sizes.mean((1, 2, 3))).any())


def side_by_side(x: Float[Tensor, "n i h w"], convolution: Convolution) -> Float[np.ndarray, "i hp wp lanes"]:
    """A group of candidates, as many as the kernel takes at once or filled up with zeros, on the last axis."""
    margins = (*convolution.margins, 0, 0, 0, LANES - len(x))  # in the order of F.pad
    padded = F.pad(x, margins) if any(margins) else x
    planes: np.ndarray = padded.permute(1, 2, 3, 0).contiguous().numpy()
    return planes
