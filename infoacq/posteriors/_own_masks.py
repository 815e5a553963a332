"""The convolution behind the first dropout where each candidate has masks of its own.

No channel can be left out for all candidates side by side, but what each input channel adds to each output channel is
computed once for all draws all the same: a draw's sum takes it once or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Bool, Float
from torch import Tensor

from infoacq.posteriors._first_convolution import FirstConvolution
from infoacq.posteriors._layers import layer_of_all
from infoacq.posteriors._layouts import apart, candidates_last, columns, numpy_room, side_by_side
from infoacq.posteriors._parts import Part
from infoacq.posteriors._planes import NEAR_BYTES
from infoacq.posteriors._planes_kernel import LANES, add_up_separately
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._suited import suits
from infoacq.posteriors._threads import Map


def ends_of_own_draws(
    first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "n i h w"], in_threads: Map
) -> list[Part | None]:
    """For a block, the value at `first.end` for each draw; None where it has to be found otherwise.

    The tensors of the parts are rooms of `first.rooms`, to be given back.
    """
    convolution = first.convolution
    if not suits((convolution,), x):
        return [None] * len(draws)
    keeps = torch.stack([draw.mask(convolution.dropped.node, tuple(x.shape), x).flatten(1) for draw in draws])
    width = convolution.step.module.out_channels
    shape = (len(x), width, *convolution.handed_on)
    ends = [candidates_last(row, shape) for row in first.rooms.take(x, (len(draws), prod(shape)))]
    of_all = [columns(end) for end in ends]
    some = max(1, NEAR_BYTES // (LANES * convolution.row_bytes))
    left, right, _, _ = convolution.margins
    layer = layer_of_all(convolution, x.shape[3] + left + right)

    def fill(start: int) -> None:
        planes = side_by_side(x[start : start + LANES], convolution)
        kept = _kept(keeps[:, start : start + LANES], planes.dtype)
        for places in (slice(at, at + some) for at in range(0, len(draws), some)):
            here = of_all[places]
            with numpy_room(first.rooms, x, (len(here), *shape[1:], LANES)) as sums:
                add_up_separately(planes, layer, kept[places], sums)
                for given, end in zip(sums, here, strict=True):
                    apart(given, start, end)

    in_threads(fill, range(0, len(x), LANES))
    return [Part.whole(end) for end in ends]


def _kept(keeps: Bool[Tensor, "k n i"], dtype: np.dtype) -> Float[np.ndarray, "k padded lanes"]:
    """One where a candidate keeps a channel, and zeros up to whole groups of the kernel."""
    kept: np.ndarray = F.pad(keeps.transpose(1, 2), (0, LANES - keeps.shape[1])).contiguous().numpy().astype(dtype)
    return kept
