"""What stands for tensors and numbers while a forward is noted, and which modules are looked into."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any

import torch
from torch import fx, nn
from torch.fx import Node

from infoacq.posteriors._dropout import DropoutLayer

_ANY_TENSOR = torch.empty(0)
_SIZES = ("size", "dim", "ndimension", "numel", "nelement", "element_size", "stride", "storage_offset")
_NUMBERS_OF_TENSORS = frozenset((*_SIZES, "get_device", "data_ptr", "item", "tolist"))
_NO_TENSORS = frozenset(("shape", "ndim", "dtype", "device", "layout", "itemsize", "nbytes", "requires_grad"))

_alone = Lock()  # torch.fx puts its own methods on nn.Module, for all threads


class _Proxy(fx.Proxy):
    """Stands for a tensor, or for a number: of the size of one or its like, or reckoned from such alone."""

    _is_param = False

    def __init__(self, node: Node, tracer: fx.Tracer) -> None:
        super().__init__(node, tracer)
        node.meta["number"] = _is_number(node)


def _is_number(node: Node) -> bool:
    if node.op not in ("call_function", "call_method"):
        return False
    if node.target is getattr:
        return node.args[1] in _NO_TENSORS or str(node.args[1]).startswith("is_")
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    reckoned = getattr(node.target, "__module__", None) in ("_operator", "math")
    return name in _NUMBERS_OF_TENSORS or (reckoned and all(node.meta["number"] for node in node.all_input_nodes))


@contextmanager
def _told_what_it_is_given() -> Iterator[None]:
    """A forward that asks whether it was given a tensor is told so, as it would be when it runs.

    Proxies can't say so themselves: PyTorch would believe them, and die where it looks into what is none.
    """
    own = builtins.isinstance
    builtins.isinstance = lambda given, of: (
        own(given, of) or (type(given) is _Proxy and not given.node.meta["number"] and own(_ANY_TENSOR, of))
    )
    try:
        yield
    finally:
        builtins.isinstance = own


class Tracer(fx.Tracer):
    """Looks into modules that hold a dropout layer; into the others only if asked."""

    def __init__(self, layers: Collection[DropoutLayer], *, deep: bool) -> None:
        super().__init__()
        self._layers, self._deep, self._thread = set(layers), deep, get_ident()
        self.asked_for_values = False  # a forward may catch the error that this gives, and go on

    def trace(self, *given: Any, **names: Any) -> fx.Graph:
        with _alone, _told_what_it_is_given():
            return super().trace(*given, **names)

    def call_module(self, m: nn.Module, forward: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if get_ident() != self._thread:  # it runs while we look at another
            return forward(*args, **kwargs)
        return super().call_module(m, forward, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return super().getattr(attr, attr_val, parameter_proxy_cache) if get_ident() == self._thread else attr_val

    def proxy(self, node: Node) -> fx.Proxy:
        return _Proxy(node, self)

    def create_arg(self, a: Any) -> Any:
        return a.node if type(a) is _Proxy else super().create_arg(a)

    def to_bool(self, obj: fx.Proxy) -> bool:
        self.asked_for_values = True
        return super().to_bool(obj)

    def iter(self, obj: fx.Proxy) -> Iterator[Any]:
        self.asked_for_values = True
        return super().iter(obj)

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        if m in self._layers:
            return True
        if any(inner in self._layers for inner in m.modules()):
            return False
        return not self._deep or super().is_leaf_module(m, module_qualified_name)
