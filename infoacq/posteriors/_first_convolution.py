"""The convolution behind the first dropout, for many draws at once.

Its input is the same for all draws but for the channels that are dropped, and it is linear in them: what each input
channel adds to each output channel is computed once, and a draw's output is the sum over the channels that it keeps, a
product of its mask with these addends. For a 5x5 kernel that is a sixth of the work of one convolution a draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from jaxtyping import Float
from torch import Tensor, nn
from torch.fx import Node

from infoacq.posteriors._ops import Kind
from infoacq.posteriors._parts import Part
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._trace import call

_MIN_DRAWS = 8  # fewer do not pay for the addends
_MIN_KERNEL = 9
_ROWS = 128  # candidates at a time
_ADDEND_BYTES = 32 * 2**20


@dataclass(frozen=True)
class FirstConvolution:
    """A dropout of whole channels, the convolution that alone reads it, and the steps up to the next dropout."""

    drop: Step
    convolution: Step
    chain: tuple[Step, ...]
    _free: list[Tensor] = field(default_factory=list)

    @property
    def source(self) -> Node:
        """The node whose value all draws share."""
        return self.drop.node.all_input_nodes[0]

    @property
    def end(self) -> Node:
        """The node whose value is found for all draws."""
        return (self.convolution, *self.chain)[-1].node

    @contextmanager
    def room(self, like: Tensor, shape: tuple[int, ...]) -> Iterator[Tensor]:
        """An uninitialised tensor for one thread, used again and again: fresh pages cost time."""
        held = self._free.pop() if self._free else like.new_empty(0)
        if held.shape != shape:
            held = like.new_empty(shape)
        yield held
        self._free.append(held)

    @property
    def skipped(self) -> dict[Node, None]:
        """The nodes that nobody reads once the value of the end is known."""
        nodes = (step.node for step in (self.drop, self.convolution, *self.chain))
        return dict.fromkeys(node for node in nodes if node is not self.end)


def find_first_convolution(plan: Plan, draws: int) -> FirstConvolution | None:
    """The place in a plan where this pays, if there is one."""
    if draws < _MIN_DRAWS:
        return None
    steps = {step.node: step for step in plan.each}
    for drop in plan.each:
        if not drop.cuts or drop.node.all_input_nodes[0] in steps or len(drop.node.users) != 1:
            continue
        convolution = steps.get(next(iter(drop.node.users)))
        if convolution is None or convolution.until is None or not _is_eligible(convolution):
            continue
        chain = [step for step in plan.each if step.until is convolution.until and step is not convolution]
        if all(step.kind is Kind.CHANNELWISE or step.module.running_mean is not None for step in chain):
            return FirstConvolution(drop, convolution, tuple(chain))
    return None


def _is_eligible(step: Step) -> bool:
    module = step.module
    if step.kind is not Kind.CONVOLVE or type(module) is not nn.Conv2d:
        return False
    return bool(
        module.kernel_size[0] * module.kernel_size[1] >= _MIN_KERNEL
        and module.dilation == (1, 1)
        and module.padding_mode == "zeros"
        and module.weight.device.type == "cpu"
        and module.weight.dtype in (torch.float32, torch.float64)
    )


def ends_of_draws(first: FirstConvolution, draws: Sequence[Draw], x: Float[Tensor, "n i h w"]) -> list[Part | None]:
    """The value at `first.end` for each draw; None for a draw that keeps no channel there."""
    until = first.convolution.until
    assert until is not None
    kept = [draw.kept_by(until, x) for draw in draws]
    stays = torch.stack([draw.mask(until, until.meta["shape"], x).flatten() for draw in draws])
    masks = torch.stack([draw.mask(first.drop.node, x.shape, x).flatten() for draw in draws])
    masks = masks.to(x.dtype) / (1.0 - first.drop.module.p)
    places = stays.cumsum(dim=1) - 1
    held = x.new_empty(len(draws), max(1, int(stays.sum(dim=1).max())), *first.end.meta["shape"][2:], len(x))
    chosen = [column.nonzero().flatten() for column in stays.unbind(1)]  # the draws that keep an output channel
    of_channel = [(k, places[k, channel], masks[k]) for channel, k in enumerate(chosen)]
    for rows, channel, addends in _addends(first, x):
        draw, place, mask = of_channel[channel]
        sums = (mask @ addends.flatten(1)).unflatten(1, addends.shape[1:])
        values = _finish(first, channel, sums.permute(0, 3, 1, 2))
        held[draw, place, :, :, rows] = values.permute(0, 2, 3, 1)
    return [
        None if k is None else Part(held[i, : len(k)].permute(3, 0, 1, 2), stays.shape[1], k, until=until)
        for i, k in enumerate(kept)
    ]


def _addends(
    first: FirstConvolution, x: Float[Tensor, "n i h w"]
) -> Iterator[tuple[slice, int, Float[Tensor, "i oh ow m"]]]:
    """What each input channel adds to an output channel, for some rows; valid until the next one is asked for."""
    convolution = first.convolution.module
    weight = convolution.weight.flatten(2).transpose(0, 1)  # i o (kh kw)
    for start in range(0, len(x), _ROWS):
        columns = _columns(convolution, x[start : start + _ROWS])
        rows = slice(start, start + columns.shape[-1])
        slab = max(1, _ADDEND_BYTES // columns[:, 0].nbytes)
        for channel in range(0, weight.shape[1], slab):
            some = weight[:, channel : channel + slab]
            with first.room(x, (*some.shape[:2], *columns.shape[2:])) as room:
                torch.bmm(some, columns.flatten(2), out=room.flatten(2))
                for i, addends in enumerate(room.unbind(1)):
                    yield rows, channel + i, addends


def _columns(convolution: nn.Conv2d, x: Float[Tensor, "n i h w"]) -> Float[Tensor, "i khkw oh ow n"]:
    """The inputs under each place of the kernel; candidates last, so that all is in long rows."""
    (kh, kw), (sh, sw) = convolution.kernel_size, convolution.stride
    padding = convolution._reversed_padding_repeated_twice  # in the order of F.pad
    padded = F.pad(x.permute(1, 2, 3, 0).contiguous(), (0, 0, *padding))
    windows = padded.unfold(1, kh, sh).unfold(2, kw, sw)  # i oh ow n kh kw
    return windows.permute(0, 4, 5, 1, 2, 3).flatten(1, 2).contiguous()


def _finish(first: FirstConvolution, channel: int, sums: Float[Tensor, "k n h w"]) -> Float[Tensor, "k n oh ow"]:
    """One output channel through the steps up to the next dropout; draws stand where candidates stood."""
    bias = first.convolution.module.bias
    values = sums if bias is None else sums + bias[channel]
    for step in first.chain:
        if step.kind is Kind.NORMALISE:
            values = _normalise(step.module, channel, values)
        else:
            values = call(step.node, step.module, (values, *step.node.args[1:]), step.node.kwargs)
    return values


def _normalise(norm: Any, channel: int, values: Tensor) -> Tensor:
    mean, var = norm.running_mean[channel], norm.running_var[channel]
    values = (values - mean) / (var + norm.eps).sqrt()
    return values if norm.weight is None else values * norm.weight[channel] + norm.bias[channel]
