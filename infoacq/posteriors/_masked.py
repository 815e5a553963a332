"""A user's model run under given masks, and left as it was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from infoacq.posteriors._compiled import uncompiled
from infoacq.posteriors._dropout import DropoutLayer, drop, dropout_layers
from infoacq.posteriors._evaluation import evaluating
from infoacq.posteriors._masks import Masks


@dataclass
class MaskedModel:
    """The model with its own forward; hooks put the masks of the current draw behind each dropout layer."""

    model: nn.Module
    masks: Masks
    consistent: bool = True
    watched: list[Any] = field(default_factory=list)
    _draw: int = 0
    _row: int = 0
    _batch: int = 0
    _calls: Counter[int] = field(default_factory=Counter)

    def __call__(self, batch: Tensor, draw: int, row: int) -> Any:
        """What the model returns under a draw; `row` is the place of the first candidate in the pool."""
        self._draw, self._row, self._batch = draw, row, len(batch)
        self._calls.clear()
        return self.model(batch.clone())  # a model that works in place must not reach the caller's data

    @property
    def masked_calls(self) -> int:
        """How often a dropout layer was called in the current forward pass."""
        return self._calls.total()

    def drop(self, place: int, layer: DropoutLayer, _: tuple[Any, ...], output: Tensor) -> Tensor:
        """A layer's output under the draw; `output` is still its input, as layers are in evaluation mode."""
        if self.watched:
            self.watched.pop()  # the layer's own call of a dropout function
        site = (place, self._calls[place])
        self._calls[place] += 1
        if not self.consistent:
            keep = self.masks.separate(self._draw, site, self._row, output.shape, output.device)
        elif len(output) == self._batch:
            keep = self.masks.shared(self._draw, site, output.shape, output.device)
        else:
            raise ValueError(
                f"a {type(layer).__name__} layer got {len(output)} rows for {self._batch} candidates; one mask for all "
                "of them needs them on the first axis. Move the batch axis first, or pass consistent=False (fine for "
                "BALD, wrong for joint entropies)."
            )
        dropped = drop(layer, output, keep)
        return output.copy_(dropped) if layer.inplace else dropped


_lock = Lock()
_in_use: set[DropoutLayer] = set()


@contextmanager
def _alone_with(layers: Collection[DropoutLayer]) -> Iterator[None]:
    with _lock:
        if not _in_use.isdisjoint(layers):
            raise RuntimeError(
                "the model is being scored already, in another thread or by the loader. Give each a model of its own: "
                "copy.deepcopy(model)."
            )
        _in_use.update(layers)
    try:
        yield
    finally:
        with _lock:
            _in_use.difference_update(layers)


@contextmanager
def masked(model: nn.Module, seed: int, *, consistent: bool = True) -> Iterator[MaskedModel]:
    """The model in evaluation mode with its dropout under control; put back as it was at the end.

    Raises:
        RuntimeError: its dropout is under control already.
    """
    layers = dropout_layers(model)
    runner = MaskedModel(model, Masks(layers, seed), consistent)
    handles: list[RemovableHandle] = []
    with _alone_with(layers.values()), evaluating(model), uncompiled():
        try:
            for place, layer in enumerate(layers.values()):
                handles.append(layer.register_forward_hook(partial(runner.drop, place), prepend=True))
            yield runner
        finally:
            for handle in handles:
                handle.remove()
