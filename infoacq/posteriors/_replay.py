"""The fallback for models that torch.fx cannot trace: modules that ran before the first dropout are not run again.

In one draw the modules called before the first dropout layer are noted with what they return; in the other draws of
the same block they return it again. The model's own code between them runs each time, so it may do what it likes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._outputs import class_scores

Forward = Callable[..., Any]


def repeat_with_replay(
    runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int = 0
) -> Iterator[Float[Tensor, "n k c"]]:
    """Class scores of each block under all draws; the first block is at `row` of the pool."""
    modules = [module for module in runner.model.modules() if _may_be_replayed(module, runner)]
    for block in blocks:
        replay = _Replay(runner)
        with _listening(replay, modules):
            scores = [replay.scores(block, draw, row) for draw in range(draws)]
        yield torch.stack(scores, dim=1)
        row += len(block)


@dataclass
class _Replay:
    runner: MaskedModel
    _noted: list[tuple[nn.Module, Tensor | None]] = field(default_factory=list)  # None: has to be run each time
    _next: int = 0
    _noting: bool = True
    _inside: bool = False

    def scores(self, block: Tensor, draw: int, row: int) -> Tensor:
        self._next, self._noting = 0, draw == 0
        return class_scores(self.runner(block, draw, row), len(block))

    def call(self, module: nn.Module, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a module's forward returns, run or noted before."""
        if self._inside or self.runner.masked_calls:
            return forward(*args, **kwargs)
        if self._noting:
            return self._note(module, forward, args, kwargs)
        known, output = self._noted[self._next] if self._next < len(self._noted) else (module, None)
        self._next += 1
        if known is not module or output is None:
            return forward(*args, **kwargs)
        return output.clone()  # what follows may work in place

    def _note(self, module: nn.Module, forward: Forward, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, Tensor)]
        versions = [tensor._version for tensor in tensors]
        self._inside = True
        try:
            output = forward(*args, **kwargs)
        finally:
            self._inside = False
        pure = isinstance(output, Tensor) and versions == [tensor._version for tensor in tensors]
        if pure:
            storages = {tensor.untyped_storage().data_ptr() for tensor in tensors}
            pure = output.untyped_storage().data_ptr() not in storages
        self._noted.append((module, output.clone() if pure else None))
        return output


@contextmanager
def _listening(replay: _Replay, modules: list[nn.Module]) -> Iterator[None]:
    try:
        for module in modules:
            module.forward = _through(replay, module)
        yield
    finally:
        for module in modules:
            vars(module).pop("forward", None)


def _through(replay: _Replay, module: nn.Module) -> Forward:
    own = module.forward

    def forward(*args: Any, **kwargs: Any) -> Any:  # a module's forward takes whatever it takes
        return replay.call(module, own, args, kwargs)

    return forward


def _may_be_replayed(module: nn.Module, runner: MaskedModel) -> bool:
    has_dropout = any(inner in runner.masks.layers.values() for inner in module.modules())
    has_hooks = any(inner._forward_hooks or inner._forward_pre_hooks for inner in module.modules())
    return not (has_dropout or has_hooks or "forward" in vars(module) or isinstance(module, torch.jit.ScriptModule))
