"""The convolution behind the first dropout, for many draws at once.

Its input is the same for all draws but for the channels that are dropped, and it is linear in them: what each input
channel adds to each output channel is computed once, and a draw's output is the sum over the channels that it keeps, a
product of its mask with these addends. For a 5x5 kernel that is a sixth of the work of one convolution a draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._ops import Kind
from infoacq.posteriors._parts import Part
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._trace import call

_ROWS = 64
_ADDEND_BYTES = 20 * 2**20
_SPACING = 16  # rows at a power of two from each other would fall into the same lines of the cache
_SUM_BYTES = 2 * 2**20


@dataclass(frozen=True)
class _Sums:
    """Which sums over input channels are wanted: one row for each draw that keeps an output channel, by channel."""

    masks: Float[Tensor, "rows i"]  # what each input channel counts for in a sum; last, a one for the bias
    channel: Int[Tensor, " rows"]
    place: Int[Tensor, " rows"]  # draw * held + place among the channels that the draw keeps
    starts: list[int]  # the first row of each output channel, and the number of rows
    held: int  # the most output channels that a draw keeps

    @classmethod
    def wanted(cls, masks: Float[Tensor, "k i"], stays: Bool[Tensor, "k o"]) -> _Sums:
        channel, draw = stays.T.nonzero(as_tuple=True)
        held = max(1, int(stays.sum(dim=1).max()))
        place = draw * held + (stays.cumsum(dim=1) - 1)[draw, channel]
        starts = [0, *stays.sum(dim=0).cumsum(dim=0).tolist()]
        return cls(F.pad(masks, (0, 1), value=1.0)[draw], channel, place, starts, held)

    def groups(self, channels: range, size: int) -> Iterator[tuple[range, slice]]:
        """Consecutive output channels with their rows, so many rows at most where a channel allows it."""
        first = channels.start
        for last in channels:
            if last + 1 == channels.stop or self.starts[last + 2] - self.starts[first] > size:
                yield range(first, last + 1), slice(self.starts[first], self.starts[last + 1])
                first = last + 1


def ends_of_draws(first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "n i h w"]) -> list[Part | None]:
    """The value at `first.end` for each draw; None for a draw that keeps no channel there.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    until = first.convolution.until
    assert until is not None
    kept = [draw.kept_by(until, x) for draw in draws]
    stays = torch.stack([draw.mask(until, until.meta["shape"], x).flatten() for draw in draws])
    masks = torch.stack([draw.mask(first.drop.node, x.shape, x).flatten() for draw in draws])
    sums = _Sums.wanted(masks.to(x.dtype) / (1.0 - first.drop.module.p), stays)
    held = first.rooms.take(x, (len(draws), sums.held, *first.end.meta["shape"][2:], len(x)))
    for rows, channels, addends in _addends(first, x):
        _add(first, sums, channels, addends, held.flatten(0, 1)[..., rows])
    return [
        None if k is None else Part(held[i, : len(k)].permute(3, 0, 1, 2), stays.shape[1], k, until=until)
        for i, k in enumerate(kept)
    ]


def _add(
    first: FirstConvolution,
    sums: _Sums,
    channels: range,
    addends: Float[Tensor, "i o hwm"],
    held: Float[Tensor, "places oh ow m"],
) -> None:
    """The sums of some output channels, through the steps up to the next dropout, to their places."""
    shape = (*first.convolution.node.meta["shape"][2:], held.shape[-1])
    for group, rows in sums.groups(channels, _SUM_BYTES // addends[0, 0].nbytes):
        with first.rooms.room(addends, (rows.stop - rows.start, *shape)) as room:
            for channel in group:
                here = slice(sums.starts[channel], sums.starts[channel + 1])
                part = room[here.start - rows.start : here.stop - rows.start].flatten(1)
                torch.mm(sums.masks[here], addends[:, channel - channels.start], out=part)
            values = _finish(first, sums.channel[rows], room.permute(0, 3, 1, 2))
            held.index_copy_(0, sums.place[rows], values.permute(0, 2, 3, 1))


def _addends(
    first: FirstConvolution, x: Float[Tensor, "n i h w"]
) -> Iterator[tuple[slice, range, Float[Tensor, "i o ohowm"]]]:
    """What each input channel, and last the bias, adds to some output channels, for some rows.

    Valid until the next one is asked for.
    """
    convolution = first.convolution.module
    weight = convolution.weight.flatten(2).transpose(0, 1)  # i o (kh kw)
    sides = first.convolution.node.meta["shape"][2:]
    for start in range(0, len(x), _ROWS):
        rows = slice(start, min(start + _ROWS, len(x)))
        shape = (weight.shape[0], weight.shape[2], *sides, rows.stop - start)
        with first.rooms.room(x, shape) as columns:
            _fill_columns(convolution, x[rows], columns)
            slab = max(1, _ADDEND_BYTES // columns[:, 0].nbytes)
            for channel in range(0, weight.shape[1], slab):
                some = weight[:, channel : channel + slab]
                width = columns[0, 0].numel()
                with first.rooms.room(x, (len(some) + 1, some.shape[1], width + _SPACING)) as spaced:
                    addends = spaced[..., :width]
                    for by, column, here in zip(some, columns, addends[:-1], strict=True):
                        torch.mm(by, column.flatten(1), out=here)
                    bias = x.new_zeros(()) if convolution.bias is None else convolution.bias[channel : channel + slab]
                    addends[-1] = bias.view(-1, 1)
                    yield rows, range(channel, channel + some.shape[1]), addends


def _fill_columns(
    convolution: nn.Conv2d, x: Float[Tensor, "n i h w"], columns: Float[Tensor, "i khkw oh ow n"]
) -> None:
    """The inputs under each place of the kernel; candidates last, so that all is in long rows."""
    (kh, kw), (sh, sw) = convolution.kernel_size, convolution.stride
    padding = convolution._reversed_padding_repeated_twice  # in the order of F.pad
    padded = F.pad(x.permute(1, 2, 3, 0).contiguous(), (0, 0, *padding))
    windows = padded.unfold(1, kh, sh).unfold(2, kw, sw)  # i oh ow n kh kw
    columns.view(len(columns), kh, kw, *columns.shape[2:]).copy_(windows.permute(0, 4, 5, 1, 2, 3))


def _finish(
    first: FirstConvolution, channels: Int[Tensor, " rows"], sums: Float[Tensor, "rows n h w"]
) -> Float[Tensor, "rows n oh ow"]:
    """Sums of these output channels through the steps up to the next dropout; candidates stand where channels stood."""
    for step in first.chain:
        if step.kind is Kind.NORMALISE:
            sums = _normalise(step.module, channels, sums)
        else:
            sums = call(step.node, step.module, (sums, *step.node.args[1:]), step.node.kwargs)
    return sums


def _normalise(norm: Any, channels: Int[Tensor, " rows"], sums: Float[Tensor, "rows n h w"]) -> Tensor:
    def of_rows(values: Tensor) -> Tensor:
        return values[channels].view(-1, 1, 1, 1)

    sums = (sums - of_rows(norm.running_mean)) / (of_rows(norm.running_var) + norm.eps).sqrt()
    return sums if norm.weight is None else sums * of_rows(norm.weight) + of_rows(norm.bias)
