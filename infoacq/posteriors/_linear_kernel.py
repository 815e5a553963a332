"""A linear layer behind planes of candidates side by side, of one draw, while they are near the processor."""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

import numpy as np

from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._vectors import BYTES, compiled, load, repeated, store, zeros_like

ROWS = 6  # outputs whose sums are in registers


class Weighed(NamedTuple):
    """A linear layer for one draw."""

    weight: Any  # (o / ROWS, i, ROWS), filled with zeros
    bias: Any  # (o,), likewise


@compiled
@no_type_check
def weigh(x, layer, start, out):
    """Fill out (o, n) from column `start` on, as many as there are, from planes (channels, h, w, LANES)."""
    step, features, weight = BYTES // x.itemsize, layer.weight.shape[1], layer.weight
    given = np.empty(features * step, x.dtype)
    for lane in range(0, LANES, step):
        for i in range(features):  # read once: it may come from afar, and is read for each output
            store(given, i * step, load(x, i * LANES + lane))
        for block in range(len(weight)):
            a = b = c = d = e = f = zeros_like(x)
            for i in range(features):
                here, at = load(given, i * step), (block * features + i) * ROWS
                a, b = a + repeated(weight, at) * here, b + repeated(weight, at + 1) * here
                c, d = c + repeated(weight, at + 2) * here, d + repeated(weight, at + 3) * here
                e, f = e + repeated(weight, at + 4) * here, f + repeated(weight, at + 5) * here
            _put(a, layer, block * ROWS, start + lane, out)
            _put(b, layer, block * ROWS + 1, start + lane, out)
            _put(c, layer, block * ROWS + 2, start + lane, out)
            _put(d, layer, block * ROWS + 3, start + lane, out)
            _put(e, layer, block * ROWS + 4, start + lane, out)
            _put(f, layer, block * ROWS + 5, start + lane, out)


@compiled
@no_type_check
def _put(sums, layer, o, start, out):
    """An output's sums with its bias, unless it only fills up the registers."""
    value, step = sums + repeated(layer.bias, o), BYTES // out.itemsize
    lanes = min(step, out.shape[1] - start) if o < len(out) else 0
    if lanes == step:
        store(out, o * out.shape[1] + start, value)
    elif lanes > 0:
        room = np.empty(step, out.dtype)
        store(room, 0, value)
        out[o, start : start + lanes] = room[:lanes]
