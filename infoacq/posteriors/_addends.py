"""Convolutions by addends: the one behind the first dropout for many draws at once, and those of images.

The input of the first is the same for all draws but for the channels that are dropped, and it is linear in them: what
each input channel adds to each output channel is computed once, and a draw's output is the sum over the channels that
it keeps. For a 5x5 kernel that is a sixth of the work of one convolution a draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float
from torch import Tensor, nn

from infoacq.posteriors._addends_kernel import LANES, TAPS, TERMS, Layer, Wanted, add_up
from infoacq.posteriors._convolutions import Convolution, FirstConvolution
from infoacq.posteriors._parts import Part
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._threads import fitting_number


def ends_of_draws(first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "n i h w"]) -> list[Part | None]:
    """The value at `first.end` for each draw; None where it has to be found otherwise.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    until = first.convolution.step.until
    assert until is not None
    if not _are_numbers(x, first.convolution.step.module):
        return [None] * len(draws)
    kept = [draw.kept_by(until, x) for draw in draws]
    stays = torch.stack([draw.mask(until, until.meta["shape"], x).flatten() for draw in draws])
    keeps = torch.stack([draw.mask(first.drop.node, x.shape, x).flatten() for draw in draws])
    held = max(1, int(stays.sum(dim=1).max()))
    out = first.rooms.take(x, (len(draws), len(x), held, *first.end.meta["shape"][2:]))
    _convolve(first.convolution, x, keeps, stays, 1.0 / (1.0 - first.drop.module.p), out)
    return [
        None if k is None else Part(out[i, :, : len(k)], stays.shape[1], k, until=until) for i, k in enumerate(kept)
    ]


def end_of_all(convolution: Convolution, x: Float[Tensor, "n i h w"]) -> Float[Tensor, "n o oh ow"] | None:
    """The value at `convolution.end` where nothing is dropped; None where it has to be found otherwise."""
    if not _are_numbers(x, convolution.step.module):
        return None
    out = x.new_empty(1, len(x), *convolution.end.meta["shape"][1:])
    keeps, stays = (torch.ones(1, channels, dtype=torch.bool) for channels in (x.shape[1], out.shape[2]))
    _convolve(convolution, x, keeps, stays, 1.0, out, threads=fitting_number())
    return out[0]


def _convolve(
    convolution: Convolution,
    x: Float[Tensor, "n i h w"],
    keeps: Bool[Tensor, "k i"],
    stays: Bool[Tensor, "k o"],
    scale: float,
    out: Float[Tensor, "k n held oh ow"],
    threads: int = 1,
) -> None:
    """Fill `out`; more threads than one for one draw only, where parts of it are whole arrays."""
    planes = _side_by_side(x, convolution.step.module._reversed_padding_repeated_twice)
    layer, wanted = _layer(convolution, planes.shape[3]), _wanted(keeps, stays, planes.dtype.type(scale))
    each = -(-len(planes) // threads)

    def fill(start: int) -> None:
        rows = slice(start * LANES, (start + each) * LANES)
        add_up(planes[start : start + each], layer, wanted, out[:, rows].numpy())

    starts = range(0, len(planes), each)
    if len(starts) == 1:
        fill(0)
        return
    with ThreadPoolExecutor(len(starts)) as pool:
        list(pool.map(fill, starts))


def _are_numbers(x: Tensor, layer: nn.Conv2d) -> bool:
    """Of one dtype and finite; the kernel's maxima would hide what is no number."""
    bias = 0.0 if layer.bias is None else layer.bias.sum()
    return x.dtype == layer.weight.dtype and bool((x.sum() + layer.weight.sum() + bias).isfinite())


def _side_by_side(x: Float[Tensor, "n i h w"], padding: Sequence[int]) -> Float[np.ndarray, "groups i hp wp lanes"]:
    """Candidates last, in groups of so many as the kernel takes at once; the last group is filled with zeros."""
    missing = -len(x) % LANES
    padded = F.pad(x, (*padding, 0, 0, 0, missing))  # in the order of F.pad
    groups = padded.view(-1, LANES, *padded.shape[1:])
    planes: np.ndarray = groups.permute(0, 2, 3, 4, 1).contiguous().numpy()
    return planes


def _wanted(keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"], scale: np.floating) -> Wanted:
    channel, draw = stays.T.nonzero(as_tuple=True)
    place = (stays.cumsum(dim=1) - 1)[draw, channel]
    counts, channels = keeps.sum(dim=1), keeps.shape[1]
    none = channels + torch.arange(TERMS).expand(len(keeps), TERMS)  # as many as fill the last go of each draw
    listed = torch.cat([keeps, none < channels + (-counts % TERMS)[:, None]], dim=1)
    return Wanted(
        starts=_starts(stays.sum(dim=0)),
        draw=draw.numpy(),
        place=place.numpy(),
        kept=listed.nonzero()[:, 1].clamp(max=channels).numpy().astype(np.uint64),
        kept_starts=_starts(listed.sum(dim=1)),
        scale=scale,
    )


def _starts(counts: Tensor) -> np.ndarray:
    starts: np.ndarray = F.pad(counts.cumsum(dim=0), (1, 0)).numpy()
    return starts


def _layer(convolution: Convolution, width: int) -> Layer:
    """What the kernel has to know, over planes of this width."""
    layer = convolution.step.module
    weight, bias = layer.weight.detach(), layer.bias
    bias = weight.new_zeros(len(weight)) if bias is None else bias.detach()
    (high, wide), (down, across) = layer.kernel_size, layer.dilation
    offsets = (np.arange(high)[:, None] * down * width + np.arange(wide) * across) * LANES
    missing = -offsets.size % TAPS
    return Layer(
        weight=F.pad(weight.flatten(2), (0, missing)).contiguous().numpy(),
        bias=bias.numpy(),
        offsets=np.pad(offsets.flatten(), (0, missing)).astype(np.uint64),
        stride=layer.stride,
        sides=tuple(convolution.step.node.meta["shape"][2:]),
        window=convolution.window,
        floor=bias.numpy().dtype.type(0.0 if convolution.relu else -np.inf),
    )
