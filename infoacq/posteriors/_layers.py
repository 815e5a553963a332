"""What the kernels have to know of convolutions and of the channels that draws keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float
from torch import Tensor

from infoacq.posteriors._convolutions import NO_MARGINS, Convolution, Margins
from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._ops import Sides
from infoacq.posteriors._planes_kernel import LANES, TAPS, TERMS, Layer, Wanted
from infoacq.posteriors._winograd_kernel import INPUTS, OUTPUTS, SPREAD, TILE, WEIGHTS, Tiled, cut, work_size


@dataclass(frozen=True)
class Stage:
    """A convolution for some draws, and the planes that it gives them."""

    layers: Sequence[Layer | Tiled]  # one for all draws where they share the input, or one for each
    held: Sequence[int]  # the channels that each draw keeps of what it gives
    shape: tuple[int, ...]  # of the planes: (draws, held, h, w, LANES), or of one draw
    framed: bool  # by zeros, as the next convolution wants them
    work: int = 0  # numbers that the kernel wants to work with


def stages(first: FirstConvolution, masks: Sequence[Bool[Tensor, "k _"]], width: int) -> Iterator[Stage]:
    """The convolutions behind the first dropout; `masks` are those of the dropouts before, between and behind them."""
    for place, convolution in enumerate(first.chain):
        frame = _frame(convolution.handed_on, first.further[place : place + 1])
        left, right, above, below = frame
        high, wide = convolution.handed_on
        sides = (above + high + below, left + wide + right, LANES)
        keeps, stays = masks[place : place + 2]
        held = stays.sum(dim=1).tolist()
        if place == 0:
            layer = layer_of_all(convolution, width, frame)
            yield Stage([layer], held, (len(stays), max(1, *held), *sides), any(frame))
            continue
        layers = _tiled(convolution, keeps, stays, frame)
        work = work_size(int(keeps.sum(dim=1).max()), convolution.sides, LANES)
        yield Stage(layers, held, (-(-max(held) // OUTPUTS) * OUTPUTS, *sides), any(frame), work)


def _frame(given: Sides, behind: Sequence[Convolution]) -> Margins:
    """The zeros around planes that the convolution behind them wants, if there is one: its margin, and whole tiles."""
    if not behind:
        return NO_MARGINS
    left, right, above, below = behind[0].margins
    high, wide = (-(-side // TILE) * TILE + SPREAD - TILE for side in behind[0].sides)
    return left, max(right, wide - given[1] - left), above, max(below, high - given[0] - above)


def layer_of_all(convolution: Convolution, width: int, frame: Margins = NO_MARGINS) -> Layer:
    """For `add_up`, over planes of this width; what it gives goes into a frame."""
    weight, bias = _weights(convolution)
    module = convolution.step.module
    (high, wide), (down, across) = module.kernel_size, module.dilation
    offsets = ((np.arange(high)[:, None] * down * width + np.arange(wide) * across) * LANES).flatten()
    missing = -offsets.size % TAPS
    return Layer(
        weight=F.pad(weight, (0, missing)).contiguous().numpy(),
        bias=bias.numpy(),
        offsets=np.pad(offsets, (0, missing)).astype(np.uint64),
        stride=module.stride,
        **_facts(convolution, frame),
    )


def _tiled(
    convolution: Convolution, keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"], frame: Margins
) -> list[Tiled]:
    """For `convolve`, with the channels that each draw keeps of the input and of the output."""
    weight, bias = _weights(convolution)
    once = torch.tensor(WEIGHTS, dtype=torch.float64)
    kernels = weight.view(*weight.shape[:2], *convolution.step.module.kernel_size)
    spread = torch.einsum("ay, oiyx, bx -> aboi", once, kernels.double() * scale(convolution), once).flatten(0, 1)
    facts, transformed = _facts(convolution, frame), spread.to(weight.dtype).numpy()
    tiled = []
    for keep, stay in zip(keeps, stays, strict=True):
        inner, outer = keep.nonzero()[:, 0].numpy(), stay.nonzero()[:, 0].numpy()
        blocks = -(-len(outer) // OUTPUTS)
        goes = np.empty((len(transformed), blocks, -(-len(inner) // INPUTS), OUTPUTS, INPUTS), transformed.dtype)
        cut(transformed, outer, inner, goes)
        tiled.append(Tiled(goes, F.pad(bias[stay], (0, blocks * OUTPUTS - len(outer))).numpy(), **facts))
    return tiled


def wanted_sums(convolution: Convolution, keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"]) -> Wanted:
    """For `add_up`: the channels that each draw keeps of the input and of the output."""
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
        scale=_weights(convolution)[1].numpy().dtype.type(scale(convolution)),
    )


def scale(convolution: Convolution) -> float:
    """What each input channel counts for that a draw keeps."""
    return 1.0 if convolution.drop is None else float(1.0 / (1.0 - convolution.drop.module.p))


def _weights(convolution: Convolution) -> tuple[Float[Tensor, "o i taps"], Float[Tensor, " o"]]:
    layer = convolution.step.module
    weight: Tensor = layer.weight.detach().flatten(2)
    return weight, weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach()


def _starts(counts: Tensor) -> np.ndarray:
    starts: np.ndarray = F.pad(counts.cumsum(dim=0), (1, 0)).numpy()
    return starts


def _facts(convolution: Convolution, frame: Margins) -> dict[str, Any]:
    """What follows a convolution, and where it goes."""
    left, _, above, _ = frame
    return {
        "sides": convolution.sides,
        "window": convolution.window,
        "floor": _weights(convolution)[1].numpy().dtype.type(0.0 if convolution.relu else -np.inf),
        "corner": (above, left),
    }
