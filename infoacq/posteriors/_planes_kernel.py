"""Convolutions of planes of candidates that all draws share, and the maxima behind them, which never leave the caches.

Candidates lie side by side. What each input channel adds to some positions of an output channel is computed once, and
every draw adds up the addends of the channels it keeps.
"""

from __future__ import annotations

from typing import Any, NamedTuple, no_type_check

import numpy as np

from infoacq.posteriors._vectors import BYTES, compiled, larger, load, repeated, store, zeros_like

LANES = 32  # candidates side by side
NEAR = 4  # blocks whose input stays near the processor, for all output channels
PAIR = 2  # output channels whose addends are made together
AT_ONCE = 4  # positions of the output whose sums are in registers


class Layer(NamedTuple):
    """A convolution and what follows it, for all draws; offsets are in numbers."""

    weight: Any  # (o, i, taps)
    bias: Any  # (o,)
    offsets: Any  # (taps,): of the places of the kernel from its first
    blocks: Any  # (blocks, positions): window after window, from a row's first; filled up to a multiple of AT_ONCE
    row: int  # from a row of windows to the next
    window: int  # positions of the maxima that follow
    together: int  # windows of a block
    sides: tuple[int, int]  # of what is handed on: as many windows
    order: (
        Any  # (runs, 3): row of windows, first of NEAR blocks, first of PAIR output channels, one run after the other
    )
    scale: Any  # (1,): what each kept channel counts for
    floor: Any  # (1,): what is less becomes this
    corner: tuple[int, int]  # where the first number of a plane goes; the margin is the reader's


class Wanted(NamedTuple):
    """Which sums are wanted: rows of (channel, draw, place among the channels that it keeps), by output channel."""

    starts: Any  # (o + 1,): the first row of each output channel
    channel: Any  # (rows,)
    draw: Any  # (rows,)
    place: Any  # (rows,)
    kept: Any  # input channels of a draw; then the next draw's
    kept_starts: Any  # (k + 1,)


@compiled
@no_type_check
def add_up(x, layer, wanted, out):
    """Fill out (draw, place, oh, ow, LANES) from planes (i, h, w, LANES) that all draws share."""
    addends, sums, runs = _work_room(x, layer, len(out))
    for y, start, pair in zip(layer.order[0], layer.order[1], layer.order[2]):  # noqa: B905 (numba knows no strict)
        first, last = wanted.starts[pair], wanted.starts[min(pair + PAIR, len(layer.weight))]
        for block in range(start, min(start + NEAR, len(layer.blocks)) if first < last else start):
            for lane in range(0, LANES, BYTES // x.itemsize):
                _make(x, layer, pair, y * layer.row + lane, block, addends)
                for row in range(first, last):
                    channel, draw = wanted.channel[row], wanted.draw[row]
                    begin, end = wanted.kept_starts[draw], wanted.kept_starts[draw + 1]
                    _add(addends[channel - pair], wanted.kept, begin, end, sums)
                    to = ((row - first) * NEAR + block - start) * layer.together * LANES + lane
                    _keep_largest(sums, layer, channel, block, runs, to)
        for row in range(first, last):
            _put(runs, row - first, layer, start, out, wanted.draw[row] * out.shape[1] + wanted.place[row], y)


@compiled
@no_type_check
def add_up_separately(x, layer, keeps, out):
    """Fill out (draw, o, oh, ow, LANES); `keeps` (draw, i, LANES) is one where a candidate keeps an input channel."""
    draws, channels = keeps.shape[:2]
    addends, sums, runs = _work_room(x, layer, draws)
    for y, start, pair in zip(layer.order[0], layer.order[1], layer.order[2]):  # noqa: B905 (numba knows no strict)
        rows = min(PAIR, len(layer.weight) - pair) * draws
        for block in range(start, min(start + NEAR, len(layer.blocks))):
            for lane in range(0, LANES, BYTES // x.itemsize):
                _make(x, layer, pair, y * layer.row + lane, block, addends)
                for row in range(rows):
                    _add_kept(addends[row // draws], keeps, row % draws * channels * LANES + lane, channels, sums)
                    to = (row * NEAR + block - start) * layer.together * LANES + lane
                    _keep_largest(sums, layer, pair + row // draws, block, runs, to)
        for row in range(rows):
            _put(runs, row, layer, start, out, row % draws * out.shape[1] + pair + row // draws, y)


@compiled
@no_type_check
def _work_room(x, layer, draws):
    """Room for the addends of a block, (PAIR, numbers), the sums of a draw, and what a run of blocks gives."""
    size = layer.blocks.shape[1] * (BYTES // x.itemsize)
    runs = np.empty((PAIR * draws, NEAR * layer.together, LANES), x.dtype)
    return np.empty((PAIR, x.shape[0] * size), x.dtype), np.empty(size, x.dtype), runs


@compiled
@no_type_check
def put(planes, start, out):
    """Copy planes (numbers, LANES) to columns of out (numbers, n), from `start` on, as many as there are."""
    step, lanes = BYTES // planes.itemsize, min(LANES, out.shape[1] - start)
    in_vectors = lanes // step * step
    for number in range(out.shape[0]):
        for lane in range(0, in_vectors, step):
            store(out, number * out.shape[1] + start + lane, load(planes, number * LANES + lane))
        for lane in range(in_vectors, lanes):
            out[number, start + lane] = planes[number, lane]


@compiled
@no_type_check
def _make(x, layer, pair, source, block, addends):
    """What each input channel adds to the positions of a block, (PAIR, i, positions, vector), of two output channels.

    Two outputs at two positions ask for fewer numbers a product than one at four. The last may be alone, and is both.
    """
    channels, high, wide, _ = x.shape
    step, taps, plane, at = BYTES // x.itemsize, len(layer.offsets), high * wide * LANES, 0
    other = channels * taps * min(1, len(layer.weight) - 1 - pair)
    for inner in range(channels):
        first = (pair * channels + inner) * taps
        for position in range(0, layer.blocks.shape[1], 2):
            here = source + inner * plane + layer.blocks[block, position]
            beside = source + inner * plane + layer.blocks[block, position + 1]
            of_a = of_b = of_c = of_d = zeros_like(x)
            for tap in range(taps):
                weight, others = repeated(layer.weight, first + tap), repeated(layer.weight, first + other + tap)
                given, next_given = load(x, here + layer.offsets[tap]), load(x, beside + layer.offsets[tap])
                of_a, of_b = of_a + weight * given, of_b + weight * next_given
                of_c, of_d = of_c + others * given, of_d + others * next_given
            store(addends, at, of_a)
            store(addends, at + step, of_b)
            store(addends, addends.shape[1] + at, of_c)
            store(addends, addends.shape[1] + at + step, of_d)
            at += 2 * step


@compiled
@no_type_check
def _add(addends, kept, first, last, sums):
    """The sums of the addends that a draw keeps, (positions, vector)."""
    step, size = BYTES // sums.itemsize, len(sums)
    for position in range(0, size, AT_ONCE * step):
        of_a = of_b = of_c = of_d = zeros_like(sums)
        for place in range(first, last):
            at = kept[place] * size + position
            of_a, of_b = of_a + load(addends, at), of_b + load(addends, at + step)
            of_c, of_d = of_c + load(addends, at + 2 * step), of_d + load(addends, at + 3 * step)
        store(sums, position, of_a)
        store(sums, position + step, of_b)
        store(sums, position + 2 * step, of_c)
        store(sums, position + 3 * step, of_d)


@compiled
@no_type_check
def _add_kept(addends, keeps, first, channels, sums):
    """The sums of the addends that each candidate keeps, by a draw's part of `keeps`, which begins at `first`."""
    step, size = BYTES // sums.itemsize, len(sums)
    for position in range(0, size, AT_ONCE * step):
        of_a = of_b = of_c = of_d = zeros_like(sums)
        for inner in range(channels):
            at, keep = inner * size + position, load(keeps, first + inner * LANES)
            of_a, of_b = of_a + keep * load(addends, at), of_b + keep * load(addends, at + step)
            of_c, of_d = of_c + keep * load(addends, at + 2 * step), of_d + keep * load(addends, at + 3 * step)
        store(sums, position, of_a)
        store(sums, position + step, of_b)
        store(sums, position + 2 * step, of_c)
        store(sums, position + 3 * step, of_d)


@compiled
@no_type_check
def _keep_largest(sums, layer, channel, block, runs, to):
    """The largest of each window of a block, scaled, with the bias, to so many numbers from the first of `runs`."""
    step = BYTES // sums.itemsize
    for beside in range(min(layer.together, layer.sides[1] - block * layer.together)):
        source = beside * layer.window * step
        most = load(sums, source)
        for place in range(1, layer.window):
            most = larger(most, load(sums, source + place * step))
        value = most * repeated(layer.scale, 0) + repeated(layer.bias, channel)
        store(runs, to + beside * LANES, larger(value, repeated(layer.floor, 0)))


@compiled
@no_type_check
def _put(runs, run, layer, start, out, plane, y):
    """What a run of blocks gave, from block `start` on, to row `y` of a plane of `out`.

    There the draws are far apart: to write each block's there would take twice the time, waiting for memory.
    """
    step, first = BYTES // runs.itemsize, start * layer.together
    size, source = min(NEAR * layer.together, layer.sides[1] - first) * LANES, run * NEAR * layer.together * LANES
    to = ((plane * out.shape[2] + layer.corner[0] + y) * out.shape[3] + layer.corner[1] + first) * LANES
    for at in range(0, size, step):
        store(out, to + at, load(runs, source + at))
