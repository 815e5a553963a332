"""Models without their wrappers: compiled ones run as they are written, as the compiler would follow our hooks, and
parallel ones on one device, as a replica would ask for the masks of its part of the rows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from threading import Lock
from typing import Any, cast

import torch
from torch import nn

_PARALLEL = (nn.DataParallel, nn.parallel.DistributedDataParallel)


def as_written(model: Any) -> nn.Module:
    """The module inside `torch.compile`'s or parallel wrappers that do nothing else; otherwise the model itself.

    Raises:
        TypeError: it is no module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"model must be a torch.nn.Module; got {type(model).__name__}. Pass the module itself, not a function that "
            "calls it: it need not be compiled."
        )
    while _only_wraps(model):
        model = model.module if isinstance(model, _PARALLEL) else model._orig_mod
    return cast("nn.Module", model)


def _only_wraps(model: nn.Module) -> bool:
    """Of these very classes and without hooks of its own: what is derived from them may do more."""
    dynamo: Any = sys.modules.get("torch._dynamo")
    kinds = _PARALLEL if dynamo is None else (*_PARALLEL, dynamo.OptimizedModule)
    return type(model) in kinds and not model._forward_hooks and not model._forward_pre_hooks


class _Eager:
    """The compiler's stance is the process's own: the first who needs it sets it, the last one puts it back."""

    def __init__(self) -> None:
        self._lock, self._holders, self._stance = Lock(), 0, ExitStack()

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:
            if self._holders == 0:
                self._stance.enter_context(torch.compiler.set_stance("force_eager"))
            self._holders += 1
        try:
            yield
        finally:
            with self._lock:
                self._holders -= 1
                if self._holders == 0:
                    self._stance.close()


_EAGER = _Eager()


@contextmanager
def uncompiled() -> Iterator[None]:
    """Modules and functions run as they are written, also those that are compiled."""
    # Without dynamo nothing is compiled, and to import it takes seconds.
    with _EAGER.held() if "torch._dynamo" in sys.modules else nullcontext():
        yield
