"""The convolution behind the first dropout, for many draws at once.

Its input is the same for all draws but for the channels that are dropped, and it is linear in them: what each input
channel adds to each output channel is computed once, and a draw's output is the sum over the channels that it keeps.
For a 5x5 kernel that is a sixth of the work of one convolution a draw.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float
from torch import Tensor

from infoacq.posteriors._addends_kernel import LANES, Layer, Wanted, add_up
from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._parts import Part
from infoacq.posteriors._subnetwork import Draw


def ends_of_draws(first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "n i h w"]) -> list[Part | None]:
    """The value at `first.end` for each draw; None for a draw that keeps no channel there, or for no finite sum.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    if not x.sum().isfinite():  # the kernel's maxima would hide what is no number
        return [None] * len(draws)
    until = first.convolution.until
    assert until is not None
    kept = [draw.kept_by(until, x) for draw in draws]
    stays = torch.stack([draw.mask(until, until.meta["shape"], x).flatten() for draw in draws])
    keeps = torch.stack([draw.mask(first.drop.node, x.shape, x).flatten() for draw in draws])
    held = max(1, int(stays.sum(dim=1).max()))
    out = first.rooms.take(x, (len(draws), len(x), held, *first.end.meta["shape"][2:]))
    planes = _side_by_side(x, first.convolution.module._reversed_padding_repeated_twice)
    wanted = _wanted(keeps, stays, planes.dtype.type(1.0 / (1.0 - first.drop.module.p)))
    add_up(planes, _layer(first, planes.shape[3]), wanted, out.numpy())
    return [
        None if k is None else Part(out[i, :, : len(k)], stays.shape[1], k, until=until) for i, k in enumerate(kept)
    ]


def _side_by_side(x: Float[Tensor, "n i h w"], padding: Sequence[int]) -> Float[np.ndarray, "groups i hp wp lanes"]:
    """Candidates last, in groups of so many as the kernel takes at once; the last group is filled with zeros."""
    missing = -len(x) % LANES
    padded = F.pad(x, (*padding, 0, 0, 0, missing))  # in the order of F.pad
    planes: np.ndarray = padded.unflatten(0, (-1, LANES)).permute(0, 2, 3, 4, 1).contiguous().numpy()
    return planes


def _wanted(keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"], scale: np.floating) -> Wanted:
    channel, draw = stays.T.nonzero(as_tuple=True)
    place = (stays.cumsum(dim=1) - 1)[draw, channel]
    return Wanted(
        starts=_starts(stays.sum(dim=0)),
        draw=draw.numpy(),
        place=place.numpy(),
        kept=keeps.nonzero()[:, 1].contiguous().numpy(),
        kept_starts=_starts(keeps.sum(dim=1)),
        scale=scale,
    )


def _starts(counts: Tensor) -> np.ndarray:
    return F.pad(counts.cumsum(dim=0), (1, 0)).numpy()


def _layer(first: FirstConvolution, width: int) -> Layer:
    """The convolution over planes of this width, and what the kernel does behind it."""
    layer = first.convolution.module
    weight, bias = layer.weight, layer.weight.new_zeros(len(layer.weight)) if layer.bias is None else layer.bias
    (high, wide), (down, across) = layer.kernel_size, layer.dilation
    offsets = (np.arange(high)[:, None] * down * width + np.arange(wide) * across) * LANES
    floor = 0.0 if first.behind.relu else -np.inf
    return Layer(
        weight=weight.detach().flatten(2).contiguous().numpy(),
        bias=bias.detach().numpy(),
        offsets=offsets.flatten(),
        stride=layer.stride,
        sides=tuple(first.convolution.node.meta["shape"][2:]),
        window=first.behind.window,
        floor=weight.detach().numpy().dtype.type(floor),
        lanes=LANES,
    )
