"""Convolutions of planes of candidates that all draws share, and the maxima behind them, which never leave the caches.

A few candidates lie side by side, so that rows are long and the compiler makes vectors of them. What each input channel
adds to some rows of an output channel is computed once, and every draw adds up the addends of the channels it keeps.
"""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

import numpy as np
from numba import njit, uint64

LANES = 32  # candidates side by side: long enough rows, and addends (64 KiB for MNIST) that stay near the processor
TAPS = 9  # places of the kernel whose products make an addend in one go
TERMS = 8  # addends that are added in one go


class Layer(NamedTuple):
    """A convolution and what follows it, for all draws."""

    weight: Any  # (o, i, taps): places of the kernel, up to a multiple of TAPS with zeros
    bias: Any  # (o,)
    offsets: Any  # (taps,): of the places of the kernel from the first, in numbers
    stride: tuple[int, int]
    sides: tuple[int, int]  # of the convolution's output, as much of it as is looked at
    window: tuple[int, int]  # of the maxima that follow, edge to edge; what fills no window is left out
    floor: Any  # what is less becomes this
    corner: tuple[int, int]  # where the first number of a plane goes; the margin is the reader's


class Wanted(NamedTuple):
    """Which sums are wanted: rows of (draw, place among the output channels that it keeps), by output channel."""

    starts: Any  # (o + 1,): the first row of each output channel
    draw: Any  # (rows,)
    place: Any  # (rows,)
    kept: Any  # input channels of a draw, up to a multiple of TERMS with one that does not exist; then the next draw's
    kept_starts: Any  # (k + 1,)
    scale: Any  # what each kept channel counts for


def compiled(function: Any) -> Any:
    """By numba, once a machine, where there is a folder to keep the result in.

    The liberties with rounding hide no NaN; the comparisons of maxima would (see `_planes`). What one compiled function
    calls is in the same file: numba does not notice when another file changes.
    """
    compiler = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "nsz"}}
    try:
        return njit(cache=True, **compiler)(function)
    except RuntimeError:  # neither beside this file nor in the user's own folder
        return njit(**compiler)(function)


# Positions are unsigned throughout: numba would ask of others, each time, whether they count from the end.
@compiled
@no_type_check
def add_up(x, layer, wanted, out):
    """Fill out (draw, place, oh, ow, LANES) from planes (i, h, w, LANES) that all draws share."""
    size = layer.window[0] * layer.sides[1] * LANES
    addends = np.zeros((x.shape[0] + 1) * size, x.dtype)  # the last are of no channel
    sums = np.empty(size, x.dtype)
    for channel in range(len(layer.weight)):
        first, last = wanted.starts[channel], wanted.starts[channel + 1]
        for y in range(layer.sides[0] // layer.window[0] if first < last else 0):
            _fill(x, layer, channel, y * layer.window[0], addends)
            for row in range(first, last):
                draw, plane = wanted.draw[row], wanted.draw[row] * out.shape[1] + wanted.place[row]
                _add(addends, wanted.kept, wanted.kept_starts[draw], wanted.kept_starts[draw + 1], sums)
                _keep_largest(sums, layer, x.shape[3], wanted.scale, layer.bias[channel], out, plane, y)


@compiled
@no_type_check
def add_up_separately(x, layer, keeps, scale, out):
    """Fill out (draw, o, oh, ow, LANES), where each candidate keeps input channels of its own.

    `keeps` (draw, i, LANES) is one for these and zero for the others, up to a multiple of TERMS channels.
    """
    size, lanes, flat = layer.window[0] * layer.sides[1] * LANES, uint64(x.shape[3]), keeps.reshape(keeps.size)
    channels = uint64(keeps.shape[1])
    addends = np.zeros(channels * size, x.dtype)  # the last are of no channel
    sums = np.empty(size, x.dtype)
    for channel in range(len(layer.weight)):
        for y in range(layer.sides[0] // layer.window[0]):
            _fill(x, layer, channel, y * layer.window[0], addends)
            for draw in range(len(keeps)):
                _add_kept(addends, flat, uint64(draw) * channels * lanes, channels, lanes, sums)
                plane = draw * out.shape[1] + channel
                _keep_largest(sums, layer, x.shape[3], scale, layer.bias[channel], out, plane, y)


@compiled
@no_type_check
def _fill(x, layer, channel, top, addends):
    """What each input channel adds to the rows of a window, from `top` on, of an output channel."""
    channels, high, wide, _ = x.shape
    down, across = layer.stride
    runs, run = (1, layer.sides[1] * LANES) if across == 1 else (layer.sides[1], LANES)
    flat, weight, taps, at = x.reshape(x.size), layer.weight.reshape(layer.weight.size), len(layer.offsets), 0
    for inner in range(channels):
        first = (channel * channels + inner) * taps
        for row in range(top, top + layer.window[0]):
            above = (inner * high + row * down) * wide
            for column in range(runs):
                _make(flat, (above + column * across) * LANES, weight, first, layer.offsets, addends, at, run)
                at += run


@compiled
@no_type_check
def _make(x, source, weight, first, offsets, to, at, run):
    """One run of neighbours of an addend: the sum over the places of the kernel."""
    source, at, length = uint64(source), uint64(at), uint64(run)
    for q in range(length):
        to[at + q] = 0
    for place in range(0, len(offsets), TAPS):
        o, w = offsets[place : place + TAPS], weight[first + place : first + place + TAPS]
        a, b, c, d, e = source + o[0], source + o[1], source + o[2], source + o[3], source + o[4]
        f, g, h, i = source + o[5], source + o[6], source + o[7], source + o[8]
        of_a, of_b, of_c, of_d, of_e = w[0], w[1], w[2], w[3], w[4]
        of_f, of_g, of_h, of_i = w[5], w[6], w[7], w[8]
        for q in range(length):
            first_five = of_a * x[a + q] + of_b * x[b + q] + of_c * x[c + q] + of_d * x[d + q] + of_e * x[e + q]
            to[at + q] += first_five + of_f * x[f + q] + of_g * x[g + q] + of_h * x[h + q] + of_i * x[i + q]


@compiled
@no_type_check
def _add(addends, kept, first, last, sums):
    """The sum of the addends that a draw keeps."""
    size = uint64(len(sums))
    for q in range(size):
        sums[q] = 0
    for at in range(first, last, TERMS):
        k = kept[at : at + TERMS]
        a, b, c, d = k[0] * size, k[1] * size, k[2] * size, k[3] * size
        e, f, g, h = k[4] * size, k[5] * size, k[6] * size, k[7] * size
        for q in range(size):
            left = (addends[a + q] + addends[b + q]) + (addends[c + q] + addends[d + q])
            right = (addends[e + q] + addends[f + q]) + (addends[g + q] + addends[h + q])
            sums[q] += left + right


@compiled
@no_type_check
def _add_kept(addends, keeps, first, channels, lanes, sums):
    """The sum of the addends that each candidate keeps, by a draw's part of `keeps`, which begins at `first`.

    `lanes` is no constant, for the same reason as below; two flat arrays are quickly known to lie apart.
    """
    size = uint64(len(sums))
    for q in range(size):
        sums[q] = 0
    for at in range(uint64(0), uint64(channels), uint64(TERMS)):
        a, r = at * size, first + at * lanes
        b, c, d = a + size, a + size + size, a + size + size + size
        e, f, g, h = d + size, d + size + size, d + size + size + size, d + size + size + size + size
        s, t, u = r + lanes, r + lanes + lanes, r + lanes + lanes + lanes
        v, w, x, y = u + lanes, u + lanes + lanes, u + lanes + lanes + lanes, u + lanes + lanes + lanes + lanes
        for p in range(uint64(0), size, lanes):
            for q in range(lanes):
                of_four = keeps[r + q] * addends[a + p + q] + keeps[s + q] * addends[b + p + q]
                of_four += keeps[t + q] * addends[c + p + q] + keeps[u + q] * addends[d + p + q]
                others = keeps[v + q] * addends[e + p + q] + keeps[w + q] * addends[f + p + q]
                others += keeps[x + q] * addends[g + p + q] + keeps[y + q] * addends[h + p + q]
                sums[p + q] += of_four + others


@compiled
@no_type_check
def _keep_largest(sums, layer, lanes, scale, bias, out, plane, y):
    """The largest of each window, scaled, with the bias, to row `y` of a plane of `out`.

    `lanes` is no constant, or the loops would be unrolled.
    """
    high, wide = layer.window
    width, to = uint64(len(sums) // high), out.reshape(out.size)
    size, columns = (width, 1) if wide == 1 else (uint64(lanes), layer.sides[1] // wide)  # one run where it can be
    at = ((plane * out.shape[-3] + layer.corner[0] + y) * out.shape[-2] + layer.corner[1]) * lanes
    for row in range(uint64(1), uint64(high)):
        for q in range(width):
            other = sums[row * width + q]
            sums[q] = sums[q] if sums[q] > other else other
    for column in range(columns):
        here, there = uint64(column * wide) * size, uint64(at) + uint64(column) * size
        for beside in range(uint64(1), uint64(wide)):
            for q in range(size):
                other = sums[here + beside * size + q]
                sums[here + q] = sums[here + q] if sums[here + q] > other else other
        for q in range(size):
            value = sums[here + q] * scale + bias
            to[there + q] = value if value > layer.floor else layer.floor
