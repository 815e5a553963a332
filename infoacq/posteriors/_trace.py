"""A model's forward as a graph, with what one small run tells about each node; or the reason why there is none."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.fx import Graph, Node
from torch.fx.node import map_arg
from torch.nn.modules import module as torch_module

from infoacq.posteriors._dropout import DropoutLayer, mask_shape
from infoacq.posteriors._ops import channels_first, sees_more_than_margin
from infoacq.posteriors._tracer import Tracer

FROM_OUTSIDE = ("placeholder", "get_attr")
_CONTAINERS = (list, dict, set, OrderedDict, defaultdict)
_OF_ANY_LAYOUT = {"view": "reshape", "view_as": "reshape_as"}  # our convolutions give another layout than the model's


class NotUnderstoodError(Exception):
    """The model cannot be taken apart safely; its own forward has to be run for each draw."""


def trace(model: nn.Module, layers: Mapping[str, DropoutLayer], sample: Tensor, *, deep: bool) -> Graph:
    """The graph of a model in evaluation mode; nodes know their shape, dropout nodes their layer and call.

    Raises:
        NotUnderstoodError: hooks, tensors changed in place that others see, dropout that does not follow the batch.
        Exception: whatever torch.fx or the model raise when they are traced.
    """
    _refuse_hooks(model, layers.values())
    tracer = Tracer(layers.values(), deep=deep)
    with _attributes_kept(model):
        graph = tracer.trace(model)
        for node in graph.find_nodes(op="get_attr"):  # tensors made in the forward are on the model only while traced
            path, _, name = str(node.target).rpartition(".")
            node.meta["value"] = getattr(model.get_submodule(path), name)
    if tracer.asked_for_values:
        raise NotUnderstoodError("its way depends on the numbers that it is given")
    _mark_dropout(graph, model, layers)
    _refuse_shared_changes(_run_once(graph, model, sample))
    return graph


def call(node: Node, module: nn.Module | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The operation of a node, run as the model itself would, on a tensor of any layout."""
    if isinstance(module, nn.Conv2d) and args and args[0].ndim == 4 and not sees_more_than_margin(module, args[0]):
        args = (channels_first(args[0]), *args[1:])
    if _wants_channels_first(node, module):
        args = tuple(arg.contiguous() if isinstance(arg, Tensor) else arg for arg in args)
    if module is not None:
        return module(*args, **kwargs)
    if node.op == "call_method":
        name = str(node.target)
        asks_for_dtype = any(isinstance(value, torch.dtype) for value in (*args, *kwargs.values()))
        name = name if asks_for_dtype else _OF_ANY_LAYOUT.get(name, name)
        return getattr(args[0], name)(*args[1:], **kwargs)
    return node.target(*args, **kwargs)  # type: ignore[operator]


def _wants_channels_first(node: Node, module: nn.Module | None) -> bool:
    """Whether a forward may ask for views, or PyTorch's own loses digits with channels last (30 times as much)."""
    if module is None:
        return node.target in (F.group_norm, torch.group_norm)
    return isinstance(module, nn.GroupNorm) or type(module).__module__.partition(".")[0] != "torch"


def module_of(node: Node, model: nn.Module) -> nn.Module | None:
    """The module that a node calls, if it calls one."""
    return model.get_submodule(str(node.target)) if node.op == "call_module" else None


def _refuse_hooks(model: nn.Module, layers: Collection[DropoutLayer]) -> None:
    hooked = bool(torch_module._global_forward_hooks or torch_module._global_forward_pre_hooks)
    for module in model.modules():
        ours = 1 if module in layers else 0
        hooked |= len(module._forward_hooks) + len(module._forward_pre_hooks) > ours
    if hooked:
        raise NotUnderstoodError("it has forward hooks")


@contextmanager
def _attributes_kept(model: nn.Module) -> Iterator[None]:
    """A forward that stores something on the model, or in its lists and dicts, would leave tracing proxies there."""
    saved = [(vars(module), dict(vars(module))) for module in model.modules()]
    saved += [(held, held.copy()) for _, of in saved for held in of.values() if type(held) in _CONTAINERS]
    try:
        yield
    finally:
        for held, before in saved:
            held.clear()
            (held.extend if isinstance(held, list) else held.update)(before)


def _mark_dropout(graph: Graph, model: nn.Module, layers: Mapping[str, DropoutLayer]) -> None:
    places: dict[nn.Module, int] = {layer: place for place, layer in enumerate(layers.values())}
    calls: Counter[int] = Counter()
    for node in graph.nodes:
        place = places.get(model.get_submodule(node.target)) if node.op == "call_module" else None
        if place is not None:
            node.meta["site"] = (place, calls[place])
            calls[place] += 1


def _run_once(graph: Graph, model: nn.Module, sample: Tensor) -> dict[Node, Any]:
    """Values of all nodes without dropout; notes shapes and which nodes change their input in place."""
    values: dict[Node, Any] = {}
    for node in graph.nodes:
        if node.op == "placeholder":
            values[node] = sample.clone() if not values else node.args[0]
        elif node.op == "get_attr":
            values[node] = node.meta["value"]
        elif node.op != "output":
            values[node] = _run_node(node, model, values, len(sample))
        if isinstance(values.get(node), Tensor):
            node.meta["shape"] = tuple(values[node].shape)
    return values


def _run_node(node: Node, model: nn.Module, values: Mapping[Node, Any], rows: int) -> Any:
    module: Any = module_of(node, model)
    if "site" in node.meta:
        x = values[node.all_input_nodes[0]]
        mask_shape(module, x.shape)
        if len(x) != rows:
            raise NotUnderstoodError(f"{node.target} drops something else than features of each candidate")
        node.meta["changes"] = node.all_input_nodes if module.inplace else []
        return x
    args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
    tensors = [(inner, values[inner]) for inner in node.all_input_nodes if isinstance(values[inner], Tensor)]
    versions = [tensor._version for _, tensor in tensors]
    result = call(node, module, args, kwargs)
    node.meta["changes"] = [
        inner for (inner, tensor), version in zip(tensors, versions, strict=True) if tensor._version != version
    ]
    return result


def _refuse_shared_changes(values: Mapping[Node, Any]) -> None:
    """A tensor changed in place must be seen by nobody but the next node of a chain, as if it were a new one."""
    sharing: dict[int, list[Node]] = defaultdict(list)
    for node, value in values.items():
        if isinstance(value, Tensor) and value.numel():
            sharing[value.untyped_storage().data_ptr()].append(node)
    changed = {inner for node in values for inner in node.meta.get("changes", ())}
    for nodes in sharing.values():
        seen_by_others = any(len(node.users) != 1 for node in nodes[:-1])
        if not changed.isdisjoint(nodes) and (seen_by_others or nodes[0].op in FROM_OUTSIDE):
            raise NotUnderstoodError("a tensor that is changed in place is used elsewhere too")
