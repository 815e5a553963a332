"""What the kernels have to know of convolutions and of the channels that draws keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float
from torch import Tensor

from infoacq.posteriors._convolutions import NO_MARGINS, Convolution, Margins
from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._linear_kernel import ROWS, Weighed
from infoacq.posteriors._linear_layer import LinearLayer
from infoacq.posteriors._ops import Sides
from infoacq.posteriors._planes_kernel import AT_ONCE, LANES, NEAR, PAIR, Layer, Wanted
from infoacq.posteriors._winograd_kernel import OUTPUTS, SPREAD, TILE, WEIGHTS, Tiled, cut

_NEAR_BYTES = 2**20  # what planes may take, to be still near the processor when they are read for the next outputs


@dataclass(frozen=True)
class Stage:
    """A convolution for some draws, and the planes that it gives them."""

    layers: Sequence[Layer | Tiled]  # one for all draws where they share the input, or one for each
    held: Sequence[int]  # the channels that each draw keeps of what it gives
    shape: tuple[int, ...]  # of the planes: (draws, held, h, w, LANES), or of one draw
    framed: bool  # by zeros, as the next convolution wants them


def stages(first: FirstConvolution, masks: Sequence[Bool[Tensor, "k _"]], width: int) -> Iterator[Stage]:
    """The convolutions behind the first dropout; `masks` are those of `first.dropouts`."""
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
        yield Stage(layers, held, (-(-max(held) // OUTPUTS) * OUTPUTS, *sides), any(frame))


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
    blocks = _blocks(convolution, width)
    return Layer(
        weight=weight.contiguous().numpy(),
        bias=bias.numpy(),
        offsets=_grid(module.kernel_size, module.dilation, width).flatten(),
        blocks=blocks,
        row=convolution.window[0] * module.stride[0] * width * LANES,
        window=prod(convolution.window),
        together=_together(convolution),
        order=_order(convolution, len(blocks)),
        scale=weight.new_tensor([scale(convolution)]).numpy(),
        **_facts(convolution, frame),
    )


def _blocks(convolution: Convolution, width: int) -> np.ndarray:
    """The windows of a row, as many as fill the registers together; the last again where some are missing."""
    down, across = convolution.step.module.stride
    high, wide = convolution.window
    firsts = _grid((1, convolution.handed_on[1]), (0, wide * across), width).T
    windows = firsts + _grid((high, wide), (down, across), width).reshape(1, -1)
    together = _together(convolution)
    whole = np.pad(windows, ((0, -len(windows) % together), (0, 0)), "edge").reshape(-1, together * high * wide)
    return np.pad(whole, ((0, 0), (0, -whole.shape[1] % AT_ONCE)), "edge")


def _together(convolution: Convolution) -> int:
    return max(1, AT_ONCE // prod(convolution.window))


def _order(convolution: Convolution, blocks: int) -> np.ndarray:
    """Runs of blocks as the kernel does them: all rows of a pair of output channels, where their input stays near."""
    rows = convolution.handed_on[0]
    tall = rows if convolution.planes_bytes <= _NEAR_BYTES else 1
    y = np.arange(rows).reshape(-1, 1, 1, tall)
    starts = np.arange(0, blocks, NEAR)[:, None, None]
    pairs = np.arange(0, convolution.step.module.out_channels, PAIR)[:, None]
    return np.stack(np.broadcast_arrays(y, starts, pairs)).reshape(3, -1)


def _grid(sides: Sides, steps: Sides, width: int) -> np.ndarray:
    """Where the places of a grid lie in planes of this width, from its first on."""
    offsets: np.ndarray = np.arange(sides[0])[:, None] * steps[0] * width + np.arange(sides[1]) * steps[1]
    return offsets * LANES


def _tiled(
    convolution: Convolution, keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"], frame: Margins
) -> list[Tiled]:
    """For `convolve`, with the channels that each draw keeps of the input and of the output."""
    weight, bias = _weights(convolution)
    once = torch.tensor(WEIGHTS, dtype=torch.float64)
    kernels = weight.view(*weight.shape[:2], *convolution.step.module.kernel_size)
    spread = torch.einsum("ay, oiyx, bx -> aboi", once, kernels.double() * scale(convolution), once).flatten(0, 1)
    facts = _facts(convolution, frame) | {"window": convolution.window}
    transformed = spread.to(weight.dtype).numpy()
    tiled = []
    for keep, stay in zip(keeps, stays, strict=True):
        inner, outer = keep.nonzero()[:, 0].numpy(), stay.nonzero()[:, 0].numpy()
        blocks = -(-len(outer) // OUTPUTS)
        cut_weights = np.empty((blocks, len(transformed), len(inner), OUTPUTS), transformed.dtype)
        cut(transformed, outer, inner, cut_weights)
        tiled.append(Tiled(cut_weights, F.pad(bias[stay], (0, blocks * OUTPUTS - len(outer))).numpy(), **facts))
    return tiled


def weighed(linear: LinearLayer, keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"] | None = None) -> list[Weighed]:
    """For `weigh`, with the channels that each draw keeps of the input and, if not all, of the output."""
    weight, bias = _weights(linear)
    scaled = (weight * scale(linear)).numpy()[None]
    places = weight.shape[1] // keeps.shape[1]
    stays = keeps.new_ones(len(keeps), len(weight)) if stays is None else stays
    layers = []
    for keep, stay in zip(keeps, stays, strict=True):
        inner, outer = keep.repeat_interleave(places).nonzero()[:, 0].numpy(), stay.nonzero()[:, 0].numpy()
        blocks = -(-len(outer) // ROWS)
        cut_weights = np.empty((blocks, 1, len(inner), ROWS), scaled.dtype)
        cut(scaled, outer, inner, cut_weights)
        layers.append(Weighed(cut_weights[:, 0], F.pad(bias[stay], (0, blocks * ROWS - len(outer))).numpy()))
    return layers


def wanted_sums(convolution: Convolution, keeps: Bool[Tensor, "k i"], stays: Bool[Tensor, "k o"]) -> Wanted:
    """For `add_up`: the channels that each draw keeps of the input and of the output."""
    channel, draw = stays.T.nonzero(as_tuple=True)
    place = (stays.cumsum(dim=1) - 1)[draw, channel]
    return Wanted(
        starts=_starts(stays.sum(dim=0)),
        channel=channel.numpy(),
        draw=draw.numpy(),
        place=place.numpy(),
        kept=keeps.nonzero()[:, 1].numpy(),
        kept_starts=_starts(keeps.sum(dim=1)),
    )


def scale(layer: Convolution | LinearLayer) -> float:
    """What each input channel counts for that a draw keeps."""
    return 1.0 if layer.drop is None else float(1.0 / (1.0 - layer.drop.module.p))


def _weights(of: Convolution | LinearLayer) -> tuple[Float[Tensor, "o i *taps"], Float[Tensor, " o"]]:
    layer = of.step.module
    weight: Tensor = layer.weight.detach()
    weight = weight.flatten(2) if weight.ndim > 2 else weight
    return weight, weight.new_zeros(len(weight)) if layer.bias is None else layer.bias.detach().contiguous()


def _starts(counts: Tensor) -> np.ndarray:
    starts: np.ndarray = F.pad(counts.cumsum(dim=0), (1, 0)).numpy()
    return starts


def _facts(convolution: Convolution, frame: Margins) -> dict[str, Any]:
    """What follows a convolution, and where it goes."""
    left, _, above, _ = frame
    return {
        "sides": convolution.handed_on,
        "floor": _weights(convolution)[1].new_tensor([0.0 if convolution.relu else -np.inf]).numpy(),
        "corner": (above, left),
    }
