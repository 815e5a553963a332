"""One draw as the sub-network that its masks leave: only the channels that stay are computed.

Where each candidate has masks of its own, no channel can be left out, and all are multiplied by zero or one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.fx import Node
from torch.fx.node import map_arg

from infoacq.posteriors._dropout import drop
from infoacq.posteriors._masks import Masks
from infoacq.posteriors._ops import Kind, channels_first, sees_more_than_margin
from infoacq.posteriors._parts import Part, dense
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._seen import under_convolution
from infoacq.posteriors._trace import call


@dataclass
class Draw:
    """The masks of one draw and the weights of its sub-network, each made when first asked for.

    `row` is the place of the first candidate in the pool where each has masks of its own; None: all share them.
    `whole`: no channel is left out, so that what is no number in one of them shows as it does in the model.
    """

    number: int
    plan: Plan
    masks: Masks
    row: int | None = None
    whole: bool = False
    _kept: dict[Node, Tensor | None] = field(default_factory=dict)
    _weights: dict[Node, tuple[Tensor, Tensor | None]] = field(default_factory=dict)

    def run(self, known: Mapping[Node, Any]) -> Any:
        """What the model returns for a block, given the nodes that are known already."""
        values = dict(known)
        for step in self.plan.each:
            if step.node not in values:
                values[step.node] = self._value(step, values)
        return map_arg(self.plan.output.args[0], lambda node: dense(values[node]))

    def _value(self, step: Step, values: Mapping[Node, Any]) -> Any:
        if step.kind is not Kind.OTHER:
            x = values[step.node.all_input_nodes[0]]
            result = self._by_rule(step, Part.whole(x) if isinstance(x, Tensor) else x, values)
            if result is not None:
                return result
        args, kwargs = map_arg((step.node.args, step.node.kwargs), lambda node: dense(values[node]))
        return call(step.node, step.module, args, kwargs)

    def _by_rule(self, step: Step, x: Part, values: Mapping[Node, Any]) -> Any:
        """The value by a rule that knows of channels; None if the operation has to see all of them."""
        match step.kind:
            case Kind.DROP:
                return self._drop(step, x)
            case Kind.LINEAR | Kind.CONVOLVE:
                return self._weighted_sum(step, x)
            case Kind.ASK_SHAPE | Kind.RESHAPE:
                return _reshape(step, x, values)
            case Kind.NORMALISE:
                return _normalise(step, x)
        return _channelwise(step, x)

    def _drop(self, step: Step, x: Part) -> Part:
        module = step.module
        if x.until is step.node:
            return replace(x, scale=x.scale / (1.0 - module.p), until=None)
        kept = self.kept_by(step.node, x.tensor) if step.cuts and x.kept is None else None
        if kept is not None:
            return Part(x.tensor.index_select(1, kept), x.width, kept, x.scale / (1.0 - module.p))
        tensor = x.dense()
        return Part.whole(drop(module, tensor, self.mask(step.node, tuple(tensor.shape), tensor)))

    def _weighted_sum(self, step: Step, x: Part) -> Part:
        kept = self.kept_by(step.until, x.tensor) if step.until is not None else None
        if step.node not in self._weights:
            self._weights[step.node] = _sub_weights(step, x, kept)
        weight, bias = self._weights[step.node]
        if step.kind is Kind.LINEAR:
            tensor = _linear(x.tensor, weight, bias)
        else:
            tensor = convolve(step.module, _looked_at(step, x.tensor), weight, bias)
        return Part(tensor, len(step.module.weight), kept, until=step.until if kept is not None else None)

    def kept_by(self, node: Node, like: Tensor) -> Tensor | None:
        """The channels that a dropout node leaves; None if it leaves none, or others to each candidate."""
        if self.row is not None or self.whole:
            return None
        if node not in self._kept:
            kept = self.mask(node, node.meta["shape"], like).flatten().nonzero().flatten()
            self._kept[node] = kept if len(kept) else None
        return self._kept[node]

    def mask(self, node: Node, shape: tuple[int, ...], like: Tensor) -> Tensor:
        """True where a dropout node keeps a unit, (1, ...), or (n, ...) where candidates have masks of their own."""
        site = node.meta["site"]
        if self.row is not None:
            return self.masks.separate(self.number, site, self.row, shape, like.device)
        return self.masks.shared(self.number, site, shape, like.device)


def _sub_weights(step: Step, x: Part, kept: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Rows for the outputs that are needed, columns for the inputs that are held."""
    weight, bias = step.module.weight, step.module.bias
    if kept is not None:
        weight, bias = weight[kept], None if bias is None else bias[kept]
    if x.kept is not None:
        weight = weight.index_select(1, x.kept)
    return weight * x.scale if x.scale != 1.0 else weight, bias


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A linear layer's output with other weights."""
    if bias is None or x.is_contiguous() or not x.T.is_contiguous():
        return F.linear(x, weight, bias)
    return torch.addmm(bias[:, None], weight, x.T).T  # candidates last: five times as fast so


def _looked_at(step: Step, x: Tensor) -> Tensor:
    """The rows and columns on which the part of a convolution depends that somebody looks at."""
    asked = under_convolution(step.seen, step.module) if step.seen is not None else None
    return x if asked is None else x[..., : asked[0], : asked[1]]


def convolve(layer: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """A convolution layer's output with other weights."""
    if weight.ndim == 4 and weight.device.type == "cpu":
        if sees_more_than_margin(layer, x):  # it and the pooling behind it are faster with channels last
            weight = weight.contiguous(memory_format=torch.channels_last)
            if x.shape[1] == 1:  # whose strides leave open what is last
                x = x.contiguous().as_strided(x.shape, (x[0].numel(), 1, x.shape[3], 1))
        else:
            x = channels_first(x)
    result: Tensor = layer._conv_forward(x, weight, bias)
    return result


def _reshape(step: Step, x: Part, values: Mapping[Node, Any]) -> Any:
    """Shapes as the model sees them; a reshape to flat features keeps track of its channels."""
    others, kwargs = map_arg((step.node.args[1:], step.node.kwargs), values.__getitem__)
    result = call(step.node, step.module, (torch.empty(x.shape, device="meta"), *others), kwargs)
    if step.kind is Kind.ASK_SHAPE:
        return result
    is_flat = len(x.shape) > 1 and result.shape == (x.shape[0], prod(x.shape[1:]))
    return x.flat() if is_flat else None


def _normalise(step: Step, x: Part) -> Part | None:
    if x.until is None:  # zeros would become other numbers
        return None
    module, kept = step.module, x.kept
    mean, var, weight, bias = (
        None if t is None else t[kept] for t in (module.running_mean, module.running_var, module.weight, module.bias)
    )
    return replace(x, tensor=F.batch_norm(x.tensor, mean, var, weight, bias, eps=module.eps, training=mean is None))


def _channelwise(step: Step, x: Part) -> Part | None:
    if step.traits is None or (x.until is None and not step.traits.keeps_zero):
        return None
    x = x if step.traits.scales else x.scaled()
    return replace(x, tensor=call(step.node, step.module, (x.tensor, *step.node.args[1:]), step.node.kwargs))
