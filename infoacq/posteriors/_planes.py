"""Convolutions of candidates side by side: those behind the first dropout for many draws at once, and those of images.

The input of the first is the same for all draws but for the channels that are dropped, and it is linear in them: what
each input channel adds to each output channel is computed once, and a draw's output is the sum over the channels that
it keeps. For a 5x5 kernel that is a sixth of the work of one convolution a draw. The convolutions and the linear
layer behind it read what is still near the processor.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._convolutions import Convolution
from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._layers import Stage, layer_of_all, stages, wanted_sums, weighed
from infoacq.posteriors._layouts import Columns, apart, candidates_last, columns, numpy_room, side_by_side
from infoacq.posteriors._linear_kernel import Weighed, weigh
from infoacq.posteriors._parts import Part
from infoacq.posteriors._planes_kernel import LANES, Wanted, add_up
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._suited import suits
from infoacq.posteriors._threads import Map, fitting_number, workers
from infoacq.posteriors._winograd_kernel import convolve, is_lopsided

NEAR_BYTES = 64 * 2**20  # what the planes of some draws may take, to be still near the processor when they are read

_log = logging.getLogger(__name__)


class DrawsByKernels(NamedTuple):
    """Some draws, as the kernels have to know them."""

    places: slice  # among all draws
    wanted: Wanted
    stages: list[Stage]
    linear: list[Weighed] | None  # behind the last stage


def known_of_draws(
    first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "_ i h w"], in_threads: Map
) -> list[DrawsByKernels]:
    """What the kernels have to know, some draws after the others; the same for all blocks like `x`."""
    some = max(1, NEAR_BYTES // (LANES * first.convolution.row_bytes))
    places = [slice(start, start + some) for start in range(0, len(draws), some)]
    return in_threads(partial(_known, first, draws, x), places)


def ends_of_draws(
    first: FirstConvolution,
    draws: Sequence[Draw],
    known: Sequence[DrawsByKernels],
    blocks: Sequence[Float[Tensor, "_ i h w"]],
    in_threads: Map,
) -> list[list[Part | None]]:
    """For each block, the value at `first.end` for each draw; None where it has to be found otherwise.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    ends: list[list[Part | None]] = [
        _unfilled(first, draws, x) if suits(first.chain, x) else [None] * len(draws) for x in blocks
    ]
    groups = [
        (x, start, parts, filled)
        for x, parts in zip(blocks, ends, strict=True)
        for filled in ([None if part is None else columns(part.tensor) for part in parts],)
        for start in (range(0, len(x), LANES) if any(part is not None for part in parts) else ())
    ]
    unfit = in_threads(lambda group: _fill(first, known, *group[:2], group[3]), groups)
    for (_, _, parts, _), places in zip(groups, unfit, strict=True):
        for place in places:
            parts[place] = None
    if any(unfit):
        reason = "between convolutions, beside the largest number tiles would round others away"
        _log.debug("no kernels for draws %s of some blocks: %s", sorted(set(chain.from_iterable(unfit))), reason)
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
    of_all = columns(out)
    left, right, _, _ = convolution.margins
    layer, wanted = layer_of_all(convolution, x.shape[3] + left + right), wanted_sums(convolution, keeps, stays)

    def fill(start: int) -> None:
        planes = side_by_side(x[start : start + LANES], convolution)
        room = np.empty((1, *out.shape[1:], LANES), planes.dtype)
        add_up(planes, layer, wanted, room)
        apart(room[0], start, of_all)

    with workers(fitting_number()) as in_threads:
        in_threads(fill, range(0, len(x), LANES))
    return out


def _known(first: FirstConvolution, draws: Sequence[Draw], x: Tensor, places: slice) -> DrawsByKernels:
    masks = [
        torch.stack([draw.mask(node, node.meta["shape"], x).flatten() for draw in draws[places]])
        for node in first.dropouts
    ]
    left, right, _, _ = first.convolution.margins
    wanted = wanted_sums(first.convolution, masks[0], masks[1])
    linear = None if first.linear is None else weighed(first.linear, *masks[len(first.chain) :])
    return DrawsByKernels(places, wanted, list(stages(first, masks, x.shape[3] + left + right)), linear)


def _unfilled(first: FirstConvolution, draws: Sequence[Draw], x: Tensor) -> list[Part | None]:
    width, *sides = first.shape
    behind = first.dropouts[len(first.chain) :]
    known = [all(draw.kept_by(node, x) is not None for node in behind) for draw in draws]
    kept = [None if first.until is None else draw.kept_by(first.until, x) for draw in draws]
    held = [width if k is None else len(k) for k in kept]
    room = first.rooms.take(x, (len(draws), len(x) * max(held) * prod(sides)))
    return [
        Part(candidates_last(row, (len(x), number, *sides)), width, k, until=first.until) if is_known else None
        for is_known, k, number, row in zip(known, kept, held, room, strict=True)
    ]


def _fill(
    first: FirstConvolution, known: Sequence[DrawsByKernels], x: Tensor, start: int, ends: Sequence[Columns | None]
) -> list[int]:
    """The ends of all draws for a group of candidates, for some draws after the others; those that have none here."""
    planes, unfit = side_by_side(x[start : start + LANES], first.convolution), []
    for draws in known:
        with ExitStack() as stack:
            room, *rooms = [
                stack.enter_context(numpy_room(first.rooms, x, stage.shape, stage.framed)) for stage in draws.stages
            ]
            add_up(planes, draws.stages[0].layers[0], draws.wanted, room)
            for number, end in enumerate(ends[draws.places]):
                if end is None:
                    continue
                given = _through(draws, number, room, rooms)
                if given is None:
                    unfit.append(draws.places.start + number)
                elif draws.linear is not None:
                    weigh(given, draws.linear[number], start, end)
                else:
                    apart(given, start, end)
    return unfit


def _through(draws: DrawsByKernels, number: int, room: np.ndarray, rooms: Sequence[np.ndarray]) -> np.ndarray | None:
    """What a draw's further convolutions make of its planes; None where tiles would round too much of them away."""
    given = room[number, : draws.stages[0].held[number]]
    for before, stage, out in zip(draws.stages, draws.stages[1:], rooms, strict=False):
        if is_lopsided(given, prod(before.layers[0].sides)):
            return None
        convolve(given, stage.layers[number], out)
        given = out[: stage.held[number]]
    return given
