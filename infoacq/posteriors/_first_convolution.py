"""The convolution behind the first dropout: where it pays to run it for many draws at once (see `_addends`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.fx import Node

from infoacq.posteriors._addends_kernel import LANES
from infoacq.posteriors._ops import Kind
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._rooms import Rooms

MIN_DRAWS = 6  # fewer do not pay for the addends
_MIN_PLACES = 16  # of the kernel for each number that is handed on; fewer cost more memory traffic than they save work
_CACHE_BYTES = 256 * 2**10  # what the addends of a window may take
_RELUS = (F.relu, torch.relu, "relu", "relu_")
_POOLING = ("kernel_size", "stride", "padding", "dilation", "ceil_mode", "return_indices")


@dataclass(frozen=True)
class Behind:
    """What follows a convolution at once and is done with it: the largest of each window, and zero at least."""

    window: tuple[int, int] = (1, 1)
    relu: bool = False
    end: Node | None = None  # the last of these steps

    def then(self, step: Step) -> Behind | None:
        """With one more step; None if it is another kind of step, or in another order."""
        if type(step.module) is nn.Identity:
            return replace(self, end=step.node)
        if type(step.module) is nn.ReLU or (step.module is None and step.node.target in _RELUS):
            return replace(self, relu=True, end=step.node)
        window = _window(step) if self.window == (1, 1) else None
        return None if window is None else replace(self, window=window, end=step.node)


@dataclass(frozen=True)
class FirstConvolution:
    """A dropout of whole channels, the convolution that alone reads it, and what is done with it."""

    drop: Step
    convolution: Step
    behind: Behind
    skipped: dict[Node, None]  # the nodes that nobody reads once the value of the end is known
    rooms: Rooms = field(default_factory=Rooms)

    @property
    def source(self) -> Node:
        """The node whose value all draws share."""
        return self.drop.node.all_input_nodes[0]

    @property
    def end(self) -> Node:
        """The node whose value is found for all draws."""
        return self.behind.end or self.convolution.node

    @property
    def row_bytes(self) -> int:
        """What this value takes at most for one candidate and draw."""
        return int(prod(self.end.meta["shape"][1:]) * self.convolution.module.weight.element_size())


def find_first_convolution(plan: Plan, draws: int) -> FirstConvolution | None:
    """The place in a plan where this pays, if there is one."""
    if draws < MIN_DRAWS:
        return None
    steps = {step.node: step for step in plan.each}
    for drop in plan.each:
        if not drop.cuts or drop.node.all_input_nodes[0] in steps or len(drop.node.users) != 1:
            continue
        convolution = steps.get(next(iter(drop.node.users)))
        if convolution is None or convolution.until is None or not _is_eligible(convolution):
            continue
        chain = [step for step in plan.each if step.until is convolution.until and step is not convolution]
        behind, done = _follow(chain)
        places = prod(convolution.module.kernel_size) * prod(behind.window)
        if places >= _MIN_PLACES and _addend_bytes(drop, convolution, behind) <= _CACHE_BYTES:
            skipped = dict.fromkeys([drop.node, convolution.node, *done][:-1])
            return FirstConvolution(drop, convolution, behind, skipped)
    return None


def _follow(chain: Sequence[Step]) -> tuple[Behind, list[Node]]:
    behind, done = Behind(), []
    for step in chain:
        more = behind.then(step)
        if more is None:
            break
        behind = more
        done.append(step.node)
    return behind, done


def _window(step: Step) -> tuple[int, int] | None:
    """The windows of a pooling by maxima, if they lie edge to edge from the first row and column on."""
    if type(step.module) is nn.MaxPool2d:
        given = {name: getattr(step.module, name) for name in _POOLING}
    elif step.node.target is F.max_pool2d:
        given = dict(zip(_POOLING, step.node.args[1:], strict=False)) | dict(step.node.kwargs)
    else:
        return None
    window = _pair(given["kernel_size"])
    edge_to_edge = _pair(given.get("stride") or window) == window and _pair(given.get("padding", 0)) == (0, 0)
    dense = _pair(given.get("dilation", 1)) == (1, 1)
    plain = not given.get("ceil_mode", False) and not given.get("return_indices", False)
    return window if edge_to_edge and dense and plain else None


def _pair(given: Any) -> tuple[int, int]:
    high, *wide = (given,) if isinstance(given, int) else given
    return high, wide[0] if wide else high


def _is_eligible(step: Step) -> bool:
    module = step.module
    if step.kind is not Kind.CONVOLVE or type(module) is not nn.Conv2d:
        return False
    return bool(
        module.padding_mode == "zeros"
        and module.weight.device.type == "cpu"
        and module.weight.dtype in (torch.float32, torch.float64)
    )


def _addend_bytes(drop: Step, convolution: Step, behind: Behind) -> int:
    numbers = drop.node.meta["shape"][1] * behind.window[0] * convolution.node.meta["shape"][3] * LANES
    return int(numbers * convolution.module.weight.element_size())
