"""The convolution behind the first dropout: where it pays to run it for many draws at once (see `_addends`)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import nn
from torch.fx import Node

from infoacq.posteriors._ops import Kind
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._rooms import Rooms

MIN_DRAWS = 12  # fewer do not pay for the addends
_MIN_KERNEL = 16  # with fewer places they cost more memory traffic than they save work


@dataclass(frozen=True)
class FirstConvolution:
    """A dropout of whole channels, the convolution that alone reads it, and the steps up to the next dropout."""

    drop: Step
    convolution: Step
    chain: tuple[Step, ...]
    rooms: Rooms = field(default_factory=Rooms)

    @property
    def source(self) -> Node:
        """The node whose value all draws share."""
        return self.drop.node.all_input_nodes[0]

    @property
    def end(self) -> Node:
        """The node whose value is found for all draws."""
        return (self.convolution, *self.chain)[-1].node

    @property
    def skipped(self) -> dict[Node, None]:
        """The nodes that nobody reads once the value of the end is known."""
        nodes = (step.node for step in (self.drop, self.convolution, *self.chain))
        return dict.fromkeys(node for node in nodes if node is not self.end)


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
