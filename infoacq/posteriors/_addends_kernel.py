"""The convolution behind the first dropout for many draws: addends and their sums, which never leave the caches.

For sixteen candidates and one output channel, what each input channel adds to some rows of the output is computed once;
every draw that keeps the output channel then adds up the input channels that it keeps, in long rows of candidates that
the compiler makes vectors of, and takes the largest of each window. Only that is written to memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

import numpy as np
from numba import njit, uint64

LANES = 16  # candidates side by side: two vectors, and the addends of two rows of MNIST fit into the first cache
_TAPS = 5  # places of the kernel whose products are added in one go


class Layer(NamedTuple):
    """A convolution and what follows it, in numbers."""

    weight: Any  # o i taps
    bias: Any  # o
    offsets: Any  # of each place of the kernel from its first, in numbers of a plane of candidates
    stride: tuple[int, int]
    sides: tuple[int, int]  # of the convolution's output
    window: tuple[int, int]  # of the largest that follows; rows and columns that fill none are left out
    floor: Any  # what is smaller becomes this
    lanes: int = LANES


class Wanted(NamedTuple):
    """Which sums are wanted: rows of (draw, place among the output channels that it keeps), by output channel."""

    starts: Any  # the first row of each output channel, and the number of rows
    draw: Any
    place: Any
    kept: Any  # input channels that draws keep, one draw behind the other
    kept_starts: Any
    scale: Any  # what each kept channel counts for


def _compiled(function: Any) -> Any:
    # No NaN is hidden or made of finite numbers by these liberties, but the maxima are not for NaN: see `_addends`.
    return njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})(function)


# Unsigned positions throughout: numba would ask of others, each time, whether they count from the end.
@_compiled
@no_type_check
def add_up(x, layer, wanted, out):
    """Fill out (draw, n, place, oh, ow) from planes of candidates (groups, i, h, w, LANES)."""
    rows, of_row = layer.window[0], layer.sides[1] * LANES
    high, wide = layer.sides[0] // rows, layer.sides[1] // layer.window[1]
    addends = np.empty(x.shape[1] * rows * of_row, x.dtype)
    sums = np.empty(rows * of_row, x.dtype)
    most = np.max(wanted.starts[1:] - wanted.starts[:-1])
    largest = np.empty(most * high * wide * LANES, x.dtype)
    for group in range(x.shape[0]):
        for channel in range(len(layer.weight)):
            first, last = wanted.starts[channel], wanted.starts[channel + 1]
            if first == last:
                continue
            for y in range(high):
                _fill(x, group, layer, channel, y, addends)
                for row in range(first, last):
                    _add(addends, wanted, wanted.draw[row], sums)
                    to = ((row - first) * high + y) * wide * LANES
                    _keep_largest(sums, layer, wanted.scale, layer.bias[channel], largest, to)
            _write(largest, wanted, first, last, group * LANES, out)


@_compiled
@no_type_check
def _fill(x, group, layer, channel, y, addends):
    """What each input channel adds to the rows of one window of an output channel."""
    _, channels, high, wide, _ = x.shape
    down, across = layer.stride
    runs, run = (1, layer.sides[1] * LANES) if across == 1 else (layer.sides[1], LANES)
    flat, at = x.reshape(x.size), 0
    for inner in range(channels):
        for row in range(layer.window[0]):
            above = (group * channels + inner) * high + (y * layer.window[0] + row) * down
            for column in range(runs):
                source = (above * wide + column * across) * LANES
                _convolve(flat, source, layer.weight[channel, inner], layer.offsets, addends, at, run)
                at += run


@_compiled
@no_type_check
def _convolve(x, source, weight, offsets, to, at, run):
    """One run of neighbours: the sum over the places of the kernel."""
    at, length, place = uint64(at), uint64(run), 0
    for q in range(length):
        to[at + q] = 0
    while place + _TAPS <= len(weight):
        w0, w1, w2, w3, w4 = weight[place], weight[place + 1], weight[place + 2], weight[place + 3], weight[place + 4]
        a, b, c = source + offsets[place], source + offsets[place + 1], source + offsets[place + 2]
        d, e = source + offsets[place + 3], source + offsets[place + 4]
        a, b, c, d, e = uint64(a), uint64(b), uint64(c), uint64(d), uint64(e)
        for q in range(length):
            to[at + q] += w0 * x[a + q] + w1 * x[b + q] + w2 * x[c + q] + w3 * x[d + q] + w4 * x[e + q]
        place += _TAPS
    while place < len(weight):
        w0, a = weight[place], uint64(source + offsets[place])
        for q in range(length):
            to[at + q] += w0 * x[a + q]
        place += 1


@_compiled
@no_type_check
def _add(addends, wanted, draw, sums):
    """The sum of the addends of the input channels that a draw keeps, eight at a time."""
    size = uint64(len(sums))
    at, last = wanted.kept_starts[draw], wanted.kept_starts[draw + 1]
    kept = wanted.kept
    for q in range(size):
        sums[q] = 0
    while at + 8 <= last:
        a, b, c, d = uint64(kept[at]), uint64(kept[at + 1]), uint64(kept[at + 2]), uint64(kept[at + 3])
        e, f, g, h = uint64(kept[at + 4]), uint64(kept[at + 5]), uint64(kept[at + 6]), uint64(kept[at + 7])
        a, b, c, d, e, f, g, h = a * size, b * size, c * size, d * size, e * size, f * size, g * size, h * size
        for q in range(size):
            left = (addends[a + q] + addends[b + q]) + (addends[c + q] + addends[d + q])
            right = (addends[e + q] + addends[f + q]) + (addends[g + q] + addends[h + q])
            sums[q] += left + right
        at += 8
    while at < last:
        a = uint64(kept[at]) * size
        for q in range(size):
            sums[q] += addends[a + q]
        at += 1


@_compiled
@no_type_check
def _keep_largest(sums, layer, scale, bias, to, at):
    """The largest of each window, scaled, with the bias; zero at least where the layer says so."""
    high, wide = layer.window
    floor = layer.floor
    lanes, width = uint64(layer.lanes), uint64(layer.sides[1] * LANES)
    for row in range(1, high):
        below = uint64(row) * width
        for q in range(width):
            sums[q] = sums[q] if sums[q] > sums[below + q] else sums[below + q]
    for column in range(layer.sides[1] // wide):
        here, to_here = uint64(column * wide) * lanes, uint64(at) + uint64(column) * lanes
        for beside in range(1, wide):
            there = here + uint64(beside) * lanes
            for q in range(lanes):
                sums[here + q] = sums[here + q] if sums[here + q] > sums[there + q] else sums[there + q]
        for q in range(lanes):
            value = sums[here + q] * scale + bias
            to[to_here + q] = value if value > floor else floor


@_compiled
@no_type_check
def _write(values, wanted, first, last, start, out):
    """Candidates apart again: from (row, place, lane) to out (draw, n, place, oh, ow)."""
    _, candidates, held, high, wide = out.shape
    size, flat = high * wide, out.reshape(out.size)
    for row in range(first, last):
        for lane in range(min(LANES, candidates - start)):
            to = ((wanted.draw[row] * candidates + start + lane) * held + wanted.place[row]) * size
            at = (row - first) * size * LANES + lane
            for q in range(size):
                flat[uint64(to + q)] = values[uint64(at + q * LANES)]
