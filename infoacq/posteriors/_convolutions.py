"""Which convolutions of a plan the kernel of `_addends` runs, and what it does behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.fx import Node

from infoacq.posteriors._addends_kernel import LANES
from infoacq.posteriors._ops import Kind
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._rooms import Rooms
from infoacq.posteriors._seen import pair, pooling

MIN_DRAWS = 6  # fewer do not pay for the addends
_MIN_PLACES = 16  # of the kernel for each number that is handed on; fewer cost more memory traffic than they save work
_FEW_CHANNELS = 4  # of images; PyTorch's convolution of them is slow
_CACHE_BYTES = 256 * 2**10  # what the addends of a window may take
_RELUS = (F.relu, torch.relu, "relu", "relu_")


@dataclass(frozen=True)
class Convolution:
    """A convolution and the steps behind it that are done at once: the largest of each window, and zero at least."""

    step: Step
    window: tuple[int, int] = (1, 1)
    relu: bool = False
    nodes: tuple[Node, ...] = ()  # of the steps behind it

    @property
    def end(self) -> Node:
        """The node whose value is found."""
        return (self.step.node, *self.nodes)[-1]

    @property
    def row_bytes(self) -> int:
        """What this value takes for one candidate."""
        return int(prod(self.end.meta["shape"][1:]) * self.step.module.weight.element_size())

    def with_steps(self, steps: Sequence[Step]) -> Convolution:
        """With as many of the steps that follow as the kernel knows."""
        convolution = self
        for step in steps:
            more = convolution._with_step(step)
            if more is None:
                break
            convolution = replace(more, nodes=(*convolution.nodes, step.node))
        return convolution

    def _with_step(self, step: Step) -> Convolution | None:
        if type(step.module) is nn.Identity:
            return self
        if type(step.module) is nn.ReLU or (step.module is None and step.node.target in _RELUS):
            return replace(self, relu=True)
        window = _window(step) if self.window == (1, 1) else None
        return None if window is None else replace(self, window=window)

    def pays(self, channels: int) -> bool:
        """Whether the addends of so many input channels save work, and stay near the processor."""
        places = prod(self.step.module.kernel_size) * prod(self.window)
        addends = channels * self.window[0] * self.step.node.meta["shape"][3] * LANES
        return places >= _MIN_PLACES and bool(addends * self.step.module.weight.element_size() <= _CACHE_BYTES)


@dataclass(frozen=True)
class FirstConvolution:
    """A dropout of whole channels and the convolution that alone reads it."""

    drop: Step
    convolution: Convolution
    rooms: Rooms = field(default_factory=Rooms)

    @property
    def source(self) -> Node:
        """The node whose value all draws share."""
        return self.drop.node.all_input_nodes[0]

    @property
    def end(self) -> Node:
        """The node whose value is found for all draws."""
        return self.convolution.end

    @property
    def skipped(self) -> dict[Node, None]:
        """The nodes that nobody reads once that value is known."""
        nodes = (self.drop.node, self.convolution.step.node, *self.convolution.nodes)
        return dict.fromkeys(nodes[:-1])


def find_first_convolution(plan: Plan, draws: int) -> FirstConvolution | None:
    """The convolution behind the first dropout, where it pays to run it for all draws at once."""
    if draws < MIN_DRAWS:
        return None
    steps = {step.node: step for step in plan.each}
    for drop in plan.each:
        if not drop.cuts or drop.node.all_input_nodes[0] in steps or len(drop.node.users) != 1:
            continue
        step = steps.get(next(iter(drop.node.users)))
        if step is None or step.until is None or not _is_eligible(step):
            continue
        behind = [other for other in plan.each if other.until is step.until and other is not step]
        convolution = Convolution(step).with_steps(behind)
        if convolution.pays(step.module.in_channels):
            return FirstConvolution(drop, convolution)
    return None


def find_shared_convolutions(plan: Plan) -> dict[Node, Convolution]:
    """Convolutions of images that all draws share, by their nodes, where it pays."""
    found = {}
    steps = {step.node: step for step in plan.once}
    for step in plan.once:
        if not _is_eligible(step) or step.module.in_channels > _FEW_CHANNELS:
            continue
        behind, node = [], step.node
        while len(node.users) == 1 and (node := next(iter(node.users))) in steps:
            behind.append(steps[node])
        convolution = Convolution(step).with_steps(behind)
        if convolution.pays(step.module.in_channels):
            found[step.node] = convolution
    return found


def _window(step: Step) -> tuple[int, int] | None:
    """The windows of a pooling by maxima, if they lie edge to edge from the first row and column on."""
    given = pooling(step.node, step.module) if _is_of_maxima(step) else None
    if given is None or given["ceil_mode"]:
        return None
    window = pair(given["kernel_size"])
    edge_to_edge = pair(given["stride"]) == window and pair(given["padding"]) == (0, 0)
    return window if edge_to_edge and pair(given["dilation"]) == (1, 1) else None


def _is_of_maxima(step: Step) -> bool:
    return type(step.module) is nn.MaxPool2d or step.node.target is F.max_pool2d


def _is_eligible(step: Step) -> bool:
    module = step.module
    if step.kind is not Kind.CONVOLVE or type(module) is not nn.Conv2d:
        return False
    return bool(
        module.padding_mode == "zeros"
        and module.weight.device.type == "cpu"
        and module.weight.dtype in (torch.float32, torch.float64)
    )
