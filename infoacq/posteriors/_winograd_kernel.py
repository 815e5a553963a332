"""3x3 convolutions of planes of candidates in tiles, with a quarter of the products, and the maxima behind them.

Products of 6x6 transformed inputs with transformed weights, one by one, give 4x4 of the output, transformed.

Source: Lavin & Gray (2015), Fast Algorithms for Convolutional Neural Networks, F(4x4, 3x3), section 4.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

import numpy as np

from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._vectors import BYTES, compiled, larger, load, repeated, store, zeros_like

TILE, SPREAD = 4, 6  # sides of a tile of the output, and of the input that it depends on
OUTPUTS = 6  # channels whose products are in registers
LARGEST = 40.0  # times the mean of a candidate: from there on tiles in float32 may be off by more than 1e-5
GROWTH = (10 * 19) ** 2  # what numbers may become between the transforms, in times of what the output may be
WEIGHTS = (  # a row for each of the SPREAD numbers, from three of the kernel
    (1 / 4, 0, 0),
    (-1 / 6, -1 / 6, -1 / 6),
    (-1 / 6, 1 / 6, -1 / 6),
    (1 / 24, 1 / 12, 1 / 6),
    (1 / 24, -1 / 12, 1 / 6),
    (0, 0, 1),
)


class Tiled(NamedTuple):
    """A convolution and what follows it, for one draw."""

    weight: Any  # (o / OUTPUTS, SPREAD * SPREAD, i, OUTPUTS), filled with zeros
    bias: Any  # (o,), likewise
    window: tuple[int, int]  # of the maxima that follow, edge to edge; whole ones make a tile
    sides: tuple[int, int]  # of what is handed on: as many windows
    floor: Any  # (1,): what is less becomes this
    corner: tuple[int, int]  # where the first number of a plane goes; the margin is the reader's


@compiled
@no_type_check
def cut(weight, stays, keeps, out):
    """Of weights (places, o, i) those that a draw keeps, laid out as in Tiled."""
    out[:] = 0
    for o in range(len(stays)):
        for place in range(len(weight)):
            for i in range(len(keeps)):
                out[o // OUTPUTS, place, i, o % OUTPUTS] = weight[place, stays[o], keeps[i]]


@compiled
@no_type_check
def is_lopsided(x, places):
    """Whether the largest number of a candidate is so large that tiles would round others away.

    Of planes (i, h, w, LANES), of each of which but `places` are a margin of zeros.
    """
    step, room = BYTES // x.itemsize, np.empty((2, BYTES // x.itemsize), x.dtype)
    for lane in range(0, LANES, step):
        largest = total = zeros_like(x)
        for at in range(lane, x.size, LANES):
            number = load(x, at)
            size = larger(number, zeros_like(x) - number)
            largest, total = larger(size, largest), total + size
        store(room, 0, largest)
        store(room, step, total)
        for candidate in range(step):
            if room[0, candidate] * (x.shape[0] * places) > LARGEST * room[1, candidate]:
                return True
    return False


@compiled
@no_type_check
def convolve(x, layer, out):
    """Fill out (o, oh, ow, LANES) from planes (i, h, w, LANES) of one draw, as large as its tiles reach."""
    step, channels = BYTES // x.itemsize, x.shape[0]
    high, wide = TILE // layer.window[0], TILE // layer.window[1]  # windows of a tile
    spread = np.empty(SPREAD * SPREAD * channels * step, x.dtype)
    products = np.empty(SPREAD * SPREAD * OUTPUTS * step, x.dtype)
    room = np.empty(SPREAD * SPREAD * step, x.dtype)
    for y in range(-(-layer.sides[0] // high)):
        for column in range(-(-layer.sides[1] // wide)):
            for lane in range(0, LANES, step):
                source = (y * x.shape[2] + column) * TILE * LANES + lane
                for channel in range(channels):
                    _spread(x, source + channel * x.shape[1] * x.shape[2] * LANES, room, spread, channel, channels)
                for block in range(len(layer.weight)):
                    _multiply(spread, layer.weight, block, products)
                    for o in range(OUTPUTS):
                        _gather(products, o, room)
                        _keep_largest(room, layer, block * OUTPUTS + o, y * high, column * wide, lane, out)


@compiled
@no_type_check
def _spread(x, source, room, to, channel, channels):
    """A tile of a plane, transformed: to (SPREAD * SPREAD, channels, vector)."""
    step, row = BYTES // x.itemsize, x.shape[2] * LANES
    for column in range(SPREAD):
        _six(x, source + column * LANES, row, room, column * step, SPREAD * step)
    for line in range(SPREAD):
        at = (line * SPREAD * channels + channel) * step
        _six(room, line * SPREAD * step, step, to, at, channels * step)


@compiled
@no_type_check
def _multiply(x, weight, block, to):
    """For each place of a tile the products with all channels, (places, OUTPUTS, vector), from (places, i, vector)."""
    step, channels = BYTES // x.itemsize, weight.shape[2]
    for place in range(SPREAD * SPREAD):
        a = b = c = d = e = f = zeros_like(x)
        for channel in range(place * channels, (place + 1) * channels):
            given, at = load(x, channel * step), (block * SPREAD * SPREAD * channels + channel) * OUTPUTS
            a, b = a + repeated(weight, at) * given, b + repeated(weight, at + 1) * given
            c, d = c + repeated(weight, at + 2) * given, d + repeated(weight, at + 3) * given
            e, f = e + repeated(weight, at + 4) * given, f + repeated(weight, at + 5) * given
        at = place * OUTPUTS * step
        store(to, at, a)
        store(to, at + step, b)
        store(to, at + 2 * step, c)
        store(to, at + 3 * step, d)
        store(to, at + 4 * step, e)
        store(to, at + 5 * step, f)


@compiled
@no_type_check
def _gather(x, channel, room):
    """A channel's tile, transformed back: to (TILE, TILE, vector)."""
    step = BYTES // x.itemsize
    for column in range(SPREAD):
        source = (column * OUTPUTS + channel) * step
        _four(x, source, SPREAD * OUTPUTS * step, room, column * step, SPREAD * step)
    for line in range(TILE):
        _four(room, line * SPREAD * step, step, room, line * TILE * step, step)


@compiled
@no_type_check
def _six(x, a, step, to, at, jump):
    """The transform of six numbers of the input."""
    x0, x1, x2 = load(x, a), load(x, a + step), load(x, a + 2 * step)
    x3, x4, x5 = load(x, a + 3 * step), load(x, a + 4 * step), load(x, a + 5 * step)
    even, odd = x4 - 4 * x2, x3 - 4 * x1
    near, far = x4 - x2, 2 * (x3 - x1)
    store(to, at, 4 * x0 - 5 * x2 + x4)
    store(to, at + jump, even + odd)
    store(to, at + 2 * jump, even - odd)
    store(to, at + 3 * jump, near + far)
    store(to, at + 4 * jump, near - far)
    store(to, at + 5 * jump, 4 * x1 - 5 * x3 + x5)


@compiled
@no_type_check
def _four(x, a, step, to, at, jump):
    """The transform back to four numbers of the output, which may go where the first of the input were."""
    x0, x1, x2 = load(x, a), load(x, a + step), load(x, a + 2 * step)
    x3, x4, x5 = load(x, a + 3 * step), load(x, a + 4 * step), load(x, a + 5 * step)
    sum_of_near, near, sum_of_far, far = x1 + x2, x1 - x2, x3 + x4, x3 - x4
    store(to, at, x0 + sum_of_near + sum_of_far)
    store(to, at + jump, near + 2 * far)
    store(to, at + 2 * jump, sum_of_near + 4 * sum_of_far)
    store(to, at + 3 * jump, near + 8 * far + x5)


@compiled
@no_type_check
def _keep_largest(tile, layer, channel, top, left, lane, out):
    """The largest of each window of a tile, with the bias, to a plane of `out`: windows from `top` and `left` on."""
    step = BYTES // tile.itemsize
    high, wide = layer.window
    for y in range(min(TILE // high, layer.sides[0] - top)):
        at = (channel * out.shape[1] + layer.corner[0] + top + y) * out.shape[2] + layer.corner[1] + left
        for x in range(min(TILE // wide, layer.sides[1] - left)):
            source = (y * high * TILE + x * wide) * step
            most = load(tile, source)
            for place in range(1, high * wide):
                most = larger(most, load(tile, source + (place // wide * TILE + place % wide) * step))
            value = most + repeated(layer.bias, channel)
            store(out, (at + x) * LANES + lane, larger(value, repeated(layer.floor, 0)))
