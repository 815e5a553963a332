"""The linear layer that reads convolutions run by kernels, and whether it pays to run it with them."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch.fx import Node

from infoacq.posteriors._convolutions import Convolution
from infoacq.posteriors._ops import Kind
from infoacq.posteriors._plan import Plan, Step

_WEIGHT_BYTES = 4 * 2**20  # more is read too slowly, anew for each group of candidates


@dataclass(frozen=True)
class LinearLayer:
    """A linear layer that alone reads what a convolution gives, flattened."""

    step: Step
    drop: Step  # of whole channels, which it reads
    between: tuple[Node, ...]  # the flattening, and what asks for shapes
    until: Step | None  # the dropout that cuts its output, if there is one

    @property
    def draw_bytes(self) -> int:
        """What the weights that a draw keeps take, in the mean."""
        kept = prod(1.0 - drop.module.p for drop in (self.drop, self.until) if drop is not None)
        return int(self.step.module.weight.nbytes * kept)


def find_linear(convolution: Convolution, plan: Plan) -> LinearLayer | None:
    """The linear layer behind the dropout that follows a convolution, where nothing else reads that."""
    if convolution.end not in convolution.until.all_input_nodes:
        return None
    steps = {step.node: step for step in plan.each}
    drop = steps[convolution.until]
    passed = {drop.node: None}
    for step in plan.each:
        if passed.keys().isdisjoint(step.node.all_input_nodes):
            continue
        if step.kind is Kind.LINEAR:
            alone = all(user in passed or user is step.node for node in passed for user in node.users)
            until = None if step.until is None else steps[step.until]
            return LinearLayer(step, drop, tuple(passed)[1:], until) if alone and _fits(step, convolution) else None
        if step.kind is not Kind.RESHAPE and "shape" in step.node.meta:
            return None
        passed[step.node] = None
    return None


def _fits(step: Step, convolution: Convolution) -> bool:
    """Whether it reads all of each candidate, and its weights are few."""
    weight, read = step.module.weight, convolution.step.module.weight
    shape = (read.shape[0], *convolution.handed_on)
    whole = convolution.until.meta["shape"][1:] == shape and weight.shape[1] == prod(shape)
    alike = (weight.dtype, weight.device) == (read.dtype, read.device)
    return whole and alike and weight.nbytes <= _WEIGHT_BYTES
