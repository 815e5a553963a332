"""What is known of the operations between dropout layers: which act on each channel alone, and what zero becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.fx import Node

Sides = tuple[int, int]


class Kind(Enum):
    """How a node treats the channels of its one input tensor."""

    DROP = auto()
    LINEAR = auto()
    CONVOLVE = auto()
    NORMALISE = auto()
    CHANNELWISE = auto()
    RESHAPE = auto()
    ASK_SHAPE = auto()
    OTHER = auto()


@dataclass(frozen=True)
class Traits:
    """Facts about a function f that acts on each channel alone."""

    elementwise: bool  # on each number alone, not only on each channel
    keeps_zero: bool  # f(0) = 0
    scales: bool  # f(s x) = s f(x) for s >= 0
    rank: int | None = None  # the rank of a batch for which this holds; None: any


_CONVOLUTIONS: dict[type[nn.Module], int] = {nn.Conv1d: 3, nn.Conv2d: 4, nn.Conv3d: 5}  # and the rank of a batch
_BATCH_NORMS: dict[type[nn.Module], tuple[int, ...]] = {
    nn.BatchNorm1d: (2, 3),
    nn.BatchNorm2d: (4,),
    nn.BatchNorm3d: (5,),
}
_RESHAPES = (torch.flatten, torch.reshape, "flatten", "view", "reshape")
_HOMOGENEOUS = Traits(elementwise=True, keeps_zero=True, scales=True)
_KEEPS_ZERO = Traits(elementwise=True, keeps_zero=True, scales=False)
_ELEMENTWISE = Traits(elementwise=True, keeps_zero=False, scales=False)


def _pooling(rank: int) -> Traits:
    return Traits(elementwise=False, keeps_zero=True, scales=True, rank=rank)


_MODULES: dict[type[nn.Module], Traits] = {
    **dict.fromkeys((nn.ReLU, nn.LeakyReLU, nn.Identity), _HOMOGENEOUS),
    **dict.fromkeys((nn.Tanh, nn.GELU, nn.SiLU, nn.ELU, nn.SELU, nn.Mish, nn.Hardswish, nn.ReLU6), _KEEPS_ZERO),
    **dict.fromkeys((nn.Sigmoid, nn.Softplus, nn.Hardsigmoid, nn.LogSigmoid), _ELEMENTWISE),
    **dict.fromkeys((nn.MaxPool1d, nn.AvgPool1d, nn.AdaptiveMaxPool1d, nn.AdaptiveAvgPool1d), _pooling(3)),
    **dict.fromkeys((nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveMaxPool2d, nn.AdaptiveAvgPool2d), _pooling(4)),
    **dict.fromkeys((nn.MaxPool3d, nn.AvgPool3d, nn.AdaptiveMaxPool3d, nn.AdaptiveAvgPool3d), _pooling(5)),
}
_FUNCTIONS: dict[Callable[..., Any] | str, Traits] = {
    **dict.fromkeys((F.relu, torch.relu, F.leaky_relu, "relu", "relu_", "contiguous", "clone"), _HOMOGENEOUS),
    **dict.fromkeys((F.tanh, torch.tanh, F.gelu, F.silu, F.elu, F.selu, F.mish, "tanh"), _KEEPS_ZERO),
    **dict.fromkeys((F.sigmoid, torch.sigmoid, F.softplus, "sigmoid"), _ELEMENTWISE),
    **dict.fromkeys((F.max_pool1d, F.avg_pool1d, F.adaptive_max_pool1d, F.adaptive_avg_pool1d), _pooling(3)),
    **dict.fromkeys((F.max_pool2d, F.avg_pool2d, F.adaptive_max_pool2d, F.adaptive_avg_pool2d), _pooling(4)),
    **dict.fromkeys((F.max_pool3d, F.avg_pool3d, F.adaptive_max_pool3d, F.adaptive_avg_pool3d), _pooling(5)),
}


def traits(node: Node, module: nn.Module | None) -> Traits | None:
    """What is known of an operation from one tensor to one tensor; None if it may mix channels."""
    if not _is_of_one_tensor(node) or len(node.all_input_nodes) != 1:
        return None
    known = _FUNCTIONS.get(node.target) if module is None else _MODULES.get(_type(module))
    # Without a batch axis the channels are not on axis 1.
    return known if known is not None and known.rank in (None, _rank(node)) else None


def kind(node: Node, module: nn.Module | None) -> Kind:
    """How a node of a graph treats the channels of its input, in evaluation mode."""
    if "site" in node.meta:
        return Kind.DROP
    if _asks_for_shape(node):
        return Kind.ASK_SHAPE
    if not _is_of_one_tensor(node):
        return Kind.OTHER
    if module is None:
        return Kind.RESHAPE if node.target in _RESHAPES else _channelwise(node, module)
    exact = _type(module)
    if exact is nn.Flatten:
        return Kind.RESHAPE
    if exact is nn.Linear and _rank(node) == 2:
        return Kind.LINEAR
    if _CONVOLUTIONS.get(exact) == _rank(node) and module.groups == 1 and _is_as_labelled(module):
        return Kind.CONVOLVE
    return Kind.NORMALISE if _rank(node) in _BATCH_NORMS.get(exact, ()) else _channelwise(node, module)


def has_methods_of_its_own(module: nn.Module) -> bool:
    """Whether something put on the instance hides a method of its class."""
    return any(callable(getattr(type(module), name, None)) for name in vars(module))


def _channelwise(node: Node, module: nn.Module | None) -> Kind:
    return Kind.OTHER if traits(node, module) is None else Kind.CHANNELWISE


def _is_as_labelled(convolution: Any) -> bool:
    """Whether its attributes are those of its weight: PyTorch reads few of them, so changed ones may be stale."""
    shape = (convolution.out_channels, convolution.in_channels, *convolution.kernel_size)
    steps = (convolution.kernel_size, convolution.stride, convolution.dilation, convolution.padding)
    return shape == convolution.weight.shape and not any(isinstance(step, int) for step in steps)


def _asks_for_shape(node: Node) -> bool:
    asks = node.target in ("size", "dim") or (node.target is getattr and node.args[1] in ("shape", "ndim"))
    return asks and "shape" in node.all_input_nodes[0].meta


def _type(module: nn.Module) -> type[nn.Module]:
    """The exact class, since a subclass may do anything; so may a method put on the instance."""
    return nn.Module if has_methods_of_its_own(module) else type(module)


def _is_of_one_tensor(node: Node) -> bool:
    """One tensor goes in, as the first argument, and one comes out; numbers may go in beside it."""
    tensors = [inner for inner in node.all_input_nodes if "shape" in inner.meta]
    return len(tensors) == 1 and node.args[:1] == (tensors[0],) and "shape" in node.meta


def _rank(node: Node) -> int:
    return len(node.args[0].meta["shape"])  # type: ignore[union-attr]


def pair(given: Any) -> Sides:
    """One number for both sides, or one for each."""
    high, *wide = (given,) if isinstance(given, int) else given
    return high, wide[0] if wide else high


def sees_more_than_margin(layer: Any, x: Tensor) -> bool:
    """Whether some output's window of a convolution surely lies within the input, with all its places."""
    extents = zip(x.shape[2:], pair(layer.kernel_size), pair(layer.stride), pair(layer.dilation), strict=True)
    return all(size - (kernel - 1) * spread >= step for size, kernel, step, spread in extents)


def channels_first(x: Tensor) -> Tensor:
    """The same in the layout that PyTorch 2.14 does not die of where no output of a convolution sees the input."""
    return x.clone(memory_format=torch.contiguous_format)


def extremes(x: Tensor) -> Tensor:
    """The smallest and the largest number; NaN where there is one. PyTorch takes them fast in their order in memory."""
    strides = x.stride()
    order = sorted(range(x.ndim), key=lambda axis: -strides[axis])
    return torch.stack(x.permute(order).aminmax())
