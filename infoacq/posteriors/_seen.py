"""How much of a layer's output anybody looks at: a pooling leaves out the rows and columns that fill no window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.fx import Node

from infoacq.posteriors._ops import Kind, Sides, kind, pair, traits

_POOLING = {
    **dict.fromkeys((nn.MaxPool2d, F.max_pool2d), ("kernel_size", "stride", "padding", "dilation", "ceil_mode")),
    **dict.fromkeys((nn.AvgPool2d, F.avg_pool2d), ("kernel_size", "stride", "padding", "ceil_mode")),
}


def seen_sides(nodes: Iterable[Node], modules: Mapping[Node, Any], cutting: Iterable[Node]) -> dict[Node, Sides]:
    """The first rows and columns of each image that somebody looks at; `cutting` are dropouts of whole channels."""
    seen: dict[Node, Sides] = {}
    cutting = set(cutting)
    for node in reversed(list(nodes)):
        shape = node.meta.get("shape", ())
        if len(shape) != 4:
            continue
        asked = [_asked(user, modules.get(user), seen, user in cutting) for user in node.users]
        full = (shape[2], shape[3])
        known = [sides for sides in asked if sides is not None]
        all_known = bool(known) and len(known) == len(asked)
        seen[node] = (max(h for h, _ in known), max(w for _, w in known)) if all_known else full
    return seen


def under_convolution(sides: Sides, layer: Any) -> Sides | None:
    """The rows and columns on which so many of its output depend; None for all, as a margin may repeat the last."""
    if layer.padding not in ((0, 0), "valid"):
        return None
    return _under(sides, layer.kernel_size, layer.stride, layer.dilation)


def _under(sides: Sides, kernel: Any, stride: Any, dilation: Any = 1) -> Sides:
    """The rows and columns of the input on which so many of the output of a convolution or pooling depend."""
    kernels, strides, dilations = pair(kernel), pair(stride), pair(dilation)
    rows, columns = (
        (side - 1) * step + spread * (size - 1) + 1
        for side, size, step, spread in zip(sides, kernels, strides, dilations, strict=True)
    )
    return rows, columns


def pooling(node: Node, module: Any) -> dict[str, Any] | None:
    """The arguments of a pooling of images, a layer's or a function's, by name; None if it is something else."""
    names = _POOLING.get(node.target if module is None else type(module))
    if names is None:
        return None
    if module is not None:
        given = {name: getattr(module, name) for name in names}
    else:
        given = dict(zip(names, node.args[1:], strict=False)) | dict(node.kwargs)
    defaults = {"stride": None, "padding": 0, "dilation": 1, "ceil_mode": False}
    known = {**defaults, **given}
    return known | {"stride": known["stride"] or known["kernel_size"]}


def _asked(user: Node, module: Any, seen: Mapping[Node, Sides], cuts: bool) -> Sides | None:
    """What a node looks at of its input; None for all of it."""
    if user not in seen:
        return None
    what, known = kind(user, module), traits(user, module)
    if cuts or what is Kind.NORMALISE or (known is not None and known.elementwise):
        return seen[user]
    if what is Kind.CONVOLVE:
        return under_convolution(seen[user], module)
    given = pooling(user, module) if known is not None else None
    if given is None:
        return None
    # A margin or a half-filled window makes this more than what is looked at, never less.
    return _under(seen[user], given["kernel_size"], given["stride"], given["dilation"])
