"""3x3 convolutions of planes of candidates in tiles, with a quarter of the products, and the maxima behind them.

Products of 6x6 transformed inputs with transformed weights, one by one, give 4x4 of the output, transformed.

Source: Lavin & Gray (2015), Fast Algorithms for Convolutional Neural Networks, F(4x4, 3x3), section 4.3.
"""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

from numba import uint64

from infoacq.posteriors._planes_kernel import compiled

TILE, SPREAD = 4, 6  # sides of a tile of the output, and of the input that it depends on
AT_ONCE = 32  # output channels whose products are near the processor when they are read again
OUTPUTS, INPUTS = 4, 3  # channels of one go; with more their weights do not stay in registers
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

    weight: Any  # (SPREAD * SPREAD, o / OUTPUTS, i / INPUTS, OUTPUTS, INPUTS), filled with zeros
    bias: Any  # (o,), likewise
    sides: tuple[int, int]  # of the output, as much of it as is looked at
    window: tuple[int, int]  # of the maxima that follow, edge to edge; what fills no window is left out
    floor: Any  # what is less becomes this
    corner: tuple[int, int]  # where the first number of a plane goes; the margin is the reader's


def work_size(channels: int, sides: tuple[int, int], lanes: int) -> int:
    """How many numbers `convolve` wants to work with."""
    inner = -(-channels // INPUTS) * INPUTS
    high, wide = (-(-side // TILE) for side in sides)
    tiles = high * wide * lanes
    return SPREAD * SPREAD * (inner + AT_ONCE) * tiles + TILE * TILE * tiles + SPREAD * (TILE * wide + 2) * lanes


@compiled
@no_type_check
def cut(weight, stays, keeps, out):
    """Of weights (places, o, i) those that a draw keeps, laid out as in Tiled."""
    out[:] = 0
    for place in range(len(weight)):
        for o in range(len(stays)):
            for i in range(len(keeps)):
                out[place, o // OUTPUTS, i // INPUTS, o % OUTPUTS, i % INPUTS] = weight[place, stays[o], keeps[i]]


@compiled
@no_type_check
def convolve(x, layer, work, out):
    """Fill out (o, oh, ow, lanes) from planes (i, h, w, lanes) of one draw, as large as its tiles reach."""
    channels, lanes = x.shape[0], x.shape[3]
    high, wide = -(-layer.sides[0] // TILE), -(-layer.sides[1] // TILE)
    size, inner, outer = high * wide * lanes, layer.weight.shape[2] * INPUTS, len(layer.bias)
    places = SPREAD * SPREAD * size
    spread, work = work[: places * inner], work[places * inner :]
    products, work = work[: places * AT_ONCE], work[places * AT_ONCE :]
    plane, rows = work[: TILE * TILE * size], work[TILE * TILE * size :]
    spread.reshape(SPREAD * SPREAD, inner, size)[:, channels:] = 0
    for channel in range(channels):
        _spread(x, channel, (high, wide), rows, spread, inner)
    for first in range(0, outer, AT_ONCE):
        last = min(first + AT_ONCE, outer)
        _multiply(spread, layer.weight[:, first // OUTPUTS : last // OUTPUTS], products, size)
        for channel in range(first, last):
            _gather(products, channel - first, (high, wide), rows, plane, last - first, lanes)
            _keep_largest(plane, layer, wide * TILE, lanes, layer.bias[channel], out, channel)


@compiled
@no_type_check
def _spread(x, channel, tiles, rows, to, channels):
    """A plane's tiles, transformed: to (SPREAD * SPREAD, channels, tiles, lanes)."""
    _, high, wide, lanes = x.shape
    flat, size = x.reshape(x.size), tiles[0] * tiles[1] * lanes
    for y in range(tiles[0]):
        width = (tiles[1] * TILE + 2) * lanes
        _six(flat, (channel * high + y * TILE) * wide * lanes, wide * lanes, rows, 0, width, width)
        for row in range(SPREAD):
            for column in range(tiles[1]):
                at = (row * SPREAD * channels + channel) * size + (y * tiles[1] + column) * lanes
                _six(rows, row * width + column * TILE * lanes, lanes, to, at, channels * size, lanes)


@compiled
@no_type_check
def _multiply(x, weight, to, size):
    """For each place of a tile the products with all channels, (places, o, size), from (places, i, size)."""
    places, outer, inner = weight.shape[:3]
    for place in range(places):
        for block in range(outer):
            at = (place * outer + block) * OUTPUTS * size
            for q in range(OUTPUTS * size):
                to[uint64(at + q)] = 0
            for go in range(inner):
                _add_products(x, (place * inner + go) * INPUTS * size, weight[place, block, go], to, at, size)


@compiled
@no_type_check
def _add_products(x, source, weight, to, at, size):
    """What INPUTS channels add to OUTPUTS channels."""
    length, a, p = uint64(size), uint64(source), uint64(at)
    b, q = a + length, p + length
    c, r = b + length, q + length
    s = r + length
    a0, b0, c0, a1, b1, c1 = weight[0, 0], weight[0, 1], weight[0, 2], weight[1, 0], weight[1, 1], weight[1, 2]
    a2, b2, c2, a3, b3, c3 = weight[2, 0], weight[2, 1], weight[2, 2], weight[3, 0], weight[3, 1], weight[3, 2]
    for k in range(length):
        of_a, of_b, of_c = x[a + k], x[b + k], x[c + k]
        to[p + k] += a0 * of_a + b0 * of_b + c0 * of_c
        to[q + k] += a1 * of_a + b1 * of_b + c1 * of_c
        to[r + k] += a2 * of_a + b2 * of_b + c2 * of_c
        to[s + k] += a3 * of_a + b3 * of_b + c3 * of_c


@compiled
@no_type_check
def _gather(x, channel, tiles, rows, plane, channels, lanes):
    """A channel's tiles, transformed back: to a plane (h, w, lanes)."""
    size, width = tiles[0] * tiles[1] * lanes, tiles[1] * lanes
    for y in range(tiles[0]):
        for column in range(SPREAD):
            source = (column * channels + channel) * size + y * width
            _four(x, source, SPREAD * channels * size, rows, column * width, SPREAD * width, width)
        for row in range(TILE):
            for column in range(tiles[1]):
                to = ((y * TILE + row) * tiles[1] + column) * TILE * lanes
                _four(rows, row * SPREAD * width + column * lanes, width, plane, to, lanes, lanes)


@compiled
@no_type_check
def _six(x, source, step, to, at, jump, length):
    """The transform of six numbers of the input, for many at once."""
    a, s, p, j = uint64(source), uint64(step), uint64(at), uint64(jump)
    b, q = a + s, p + j
    c, r = b + s, q + j
    d, t = c + s, r + j
    e, u = d + s, t + j
    f, v = e + s, u + j
    for k in range(uint64(length)):
        x0, x1, x2, x3, x4, x5 = x[a + k], x[b + k], x[c + k], x[d + k], x[e + k], x[f + k]
        even, odd = x4 - 4 * x2, x3 - 4 * x1
        near, far = x4 - x2, 2 * (x3 - x1)
        to[p + k] = 4 * x0 - 5 * x2 + x4
        to[q + k] = even + odd
        to[r + k] = even - odd
        to[t + k] = near + far
        to[u + k] = near - far
        to[v + k] = 4 * x1 - 5 * x3 + x5


@compiled
@no_type_check
def _four(x, source, step, to, at, jump, length):
    """The transform back to four numbers of the output, for many at once."""
    a, s, p, j = uint64(source), uint64(step), uint64(at), uint64(jump)
    b, q = a + s, p + j
    c, r = b + s, q + j
    d, t = c + s, r + j
    e, f = d + s, d + s + s
    for k in range(uint64(length)):
        x1, x2, x3, x4 = x[b + k], x[c + k], x[d + k], x[e + k]
        sum_of_near, near, sum_of_far, far = x1 + x2, x1 - x2, x3 + x4, x3 - x4
        to[p + k] = x[a + k] + sum_of_near + sum_of_far
        to[q + k] = near + 2 * far
        to[r + k] = sum_of_near + 4 * sum_of_far
        to[t + k] = near + 8 * far + x[f + k]


@compiled
@no_type_check
def _keep_largest(plane, layer, wide, lanes, bias, out, channel):
    """The largest of each window of a plane, with the bias, to a plane of `out`."""
    size, to = uint64(lanes), out.reshape(out.size)
    for y in range(layer.sides[0] // layer.window[0]):
        at = ((channel * out.shape[1] + layer.corner[0] + y) * out.shape[2] + layer.corner[1]) * lanes
        for x in range(layer.sides[1] // layer.window[1]):
            here, there = uint64((y * layer.window[0] * wide + x * layer.window[1]) * lanes), uint64(at + x * lanes)
            for place in range(1, layer.window[0] * layer.window[1]):
                beside = uint64((place // layer.window[1] * wide + place % layer.window[1]) * lanes)
                for k in range(size):
                    other = plane[here + beside + k]
                    plane[here + k] = plane[here + k] if plane[here + k] > other else other
            for k in range(size):
                value = plane[here + k] + bias
                to[there + k] = value if value > layer.floor else layer.floor
