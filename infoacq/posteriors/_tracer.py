"""What stands for tensors and numbers while a forward is noted, and which modules are looked into."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from torch import Tensor, fx, nn
from torch.fx import Node

from infoacq.posteriors._dropout import DropoutLayer

_TENSORS_OF_TENSORS = frozenset(("T", "mT", "H", "mH", "real", "imag", "data", "grad"))  # other attributes are none
_SIZES = ("size", "dim", "ndimension", "numel", "nelement", "element_size", "stride", "storage_offset")
_NUMBERS_OF_TENSORS = frozenset((*_SIZES, "get_device", "data_ptr", "item", "tolist"))


class _Proxy(fx.Proxy):
    """A forward that asks whether it was given a tensor is told so, as it would be when it runs.

    PyTorch dies of numbers that say so, as in `torch.reshape(x, (x.shape[0], -1))`: it asks in the same way.
    """

    __class__ = property(lambda self: _Proxy if _is_number(self.node) else Tensor)
    _is_param = False


def _is_number(node: Node) -> bool:
    """Whether its value is no tensor: of the size of one or its like, or reckoned from such alone."""
    if node.op not in ("call_function", "call_method"):
        return False
    if node.target is getattr:
        return node.args[1] not in _TENSORS_OF_TENSORS
    name = node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    if name in _NUMBERS_OF_TENSORS:
        return True
    reckoned = getattr(node.target, "__module__", None) in ("_operator", "math")
    return reckoned and all(map(_is_number, node.all_input_nodes))


class Tracer(fx.Tracer):
    """Looks into modules that hold a dropout layer; into the others only if asked."""

    def __init__(self, layers: Collection[DropoutLayer], *, deep: bool) -> None:
        super().__init__()
        self._layers, self._deep = set(layers), deep
        self.asked_for_values = False  # a forward may catch the error that this gives, and go on

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
