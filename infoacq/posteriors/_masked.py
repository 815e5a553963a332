"""A user's model run under given masks, and left as it was found."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from infoacq.posteriors._masks import Masks, drop, dropout_layers, mask_shape

_WAY_OUT = "or pass consistent=False (fine for BALD, wrong for joint entropies)."


@dataclass
class MaskedModel:
    """The model with its own forward; hooks put the masks of the current draw behind each dropout layer."""

    model: nn.Module
    layers: Mapping[str, nn.Module]
    masks: Masks
    consistent: bool = True
    watched: list[Any] = field(default_factory=list)
    _draw: int = 0
    _row: int = 0
    _batch: int = 0
    _calls: Counter[str] = field(default_factory=Counter)
    _shapes: dict[tuple[str, int], tuple[int, ...]] = field(default_factory=dict)

    def __call__(self, batch: Tensor, draw: int, row: int) -> Any:
        """What the model returns under a draw; `row` is the place of the first candidate in the pool."""
        self._draw, self._row, self._batch = draw, row, len(batch)
        self._calls.clear()
        return self.model(batch.clone())  # a model that works in place must not reach the caller's data

    def drop(self, place: int, name: str, layer: nn.Module, _: tuple[Any, ...], output: Tensor) -> Tensor:
        """A layer's output under the draw; `output` is still its input, as layers are in evaluation mode."""
        if self.watched:
            self.watched.pop()  # the layer's own call of a dropout function
        call = self._calls[name]
        self._calls[name] += 1
        shape = mask_shape(layer, output.shape)
        if self.consistent:
            shape = (1, *shape[1:])
            self._check_shape(name, call, output, shape)
            key: tuple[int, ...] = (self._draw, place, call)
        else:
            key = (self._draw, place, call, self._row)
        dropped = drop(layer, output, self.masks.keep(key, float(layer.p), shape, output.device))  # type: ignore[arg-type]
        return output.copy_(dropped) if layer.inplace else dropped

    def _check_shape(self, name: str, call: int, x: Tensor, shape: tuple[int, ...]) -> None:
        if len(x) != self._batch:
            raise ValueError(
                f"the dropout layer {name!r} got {len(x)} rows for {self._batch} candidates; one mask for "
                f"all of them needs them on the first axis. Move the batch axis first, {_WAY_OUT}"
            )
        first = self._shapes.setdefault((name, call), shape)
        if first != shape:
            raise ValueError(
                f"the dropout layer {name!r} got features of shape {shape[1:]}, {first[1:]} before; one "
                f"mask for all candidates needs one shape. Pad or crop the candidates to one size, {_WAY_OUT}"
            )


@contextmanager
def masked(model: nn.Module, masks: Masks, *, consistent: bool = True) -> Iterator[MaskedModel]:
    """The model in evaluation mode with its dropout under control; put back as it was at the end."""
    layers = dropout_layers(model)
    runner = MaskedModel(model, layers, masks, consistent)
    flags = [(module, module.training) for module in model.modules()]
    handles: list[RemovableHandle] = []
    try:
        for module, _ in flags:
            module.training = False
        for place, (name, layer) in enumerate(layers.items()):
            handles.append(layer.register_forward_hook(partial(runner.drop, place, name), prepend=True))
        yield runner
    finally:
        for handle in handles:
            handle.remove()
        for module, flag in flags:
            module.training = flag


@contextmanager
def untouched_random_state(device: torch.device) -> Iterator[None]:
    """PyTorch's global random state (loaders and samplers draw from it) is the same afterwards."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        yield


def warn_of_batch_statistics(model: nn.Module) -> None:
    """Warn if a layer normalises by the batch even in evaluation mode."""
    for name, module in model.named_modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is None:
            warnings.warn(
                f"the layer {name!r} keeps no running statistics: it normalises each batch by itself, so a "
                "candidate's predictions depend on the others in its batch. Set track_running_stats=True.",
                stacklevel=4,
            )
