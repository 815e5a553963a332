"""Which units a draw drops: a function of the seed, the draw and the place of the dropout layer alone.

The uniform numbers come from NumPy's Philox words, whose stream NumPy promises not to change. So a draw
has the same masks on every machine and device, in every shard of a pool, beside any number of other draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod, sqrt

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

_CHANNELWISE = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.FeatureAlphaDropout)
_ALPHA = (nn.AlphaDropout, nn.FeatureAlphaDropout)
_UNBATCHED_RANK = {
    nn.Dropout1d: 2,
    nn.Dropout3d: 4,
}  # torch reads these as one candidate
_KINDS = (nn.Dropout, *_CHANNELWISE, nn.AlphaDropout)
_SELU_FLOOR = -1.7580993408473766  # what alpha dropout puts in place of a unit: -scale * alpha of SELU

DropoutLayer = nn.Module  # one of _KINDS


def dropout_layers(model: nn.Module) -> dict[str, DropoutLayer]:
    """The dropout layers by name, in the order of `named_modules`; a layer used twice is listed once.

    Raises:
        TypeError: a layer derives from a dropout layer and has a forward of its own.
    """
    layers: dict[str, DropoutLayer] = {}
    for name, module in model.named_modules():
        if not isinstance(module, nn.modules.dropout._DropoutNd):
            continue
        kind = next((kind for kind in _KINDS if isinstance(module, kind)), None)
        if kind is None or type(module).forward is not kind.forward or "forward" in vars(module):
            raise TypeError(
                f"the dropout layer {name!r} is a {type(module).__name__} with a forward of its own, "
                "so its masks cannot be held fixed. Use the plain torch.nn layer: it is turned on by itself."
            )
        layers[name] = module
    return layers


def mask_shape(layer: DropoutLayer, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of the layer's mask for an input of this shape, batch axis first.

    Raises:
        ValueError: torch would read the input as one candidate without a batch axis.
    """
    if not isinstance(layer, _CHANNELWISE):
        return tuple(shape)
    if _UNBATCHED_RANK.get(type(layer)) == len(shape) or len(shape) < 2:
        raise ValueError(
            f"{type(layer).__name__} got an input of shape {tuple(shape)}, which it reads as one candidate "
            "without a batch axis. Use nn.Dropout for flat features, or add the missing axes."
        )
    return (*shape[:2], *(1 for _ in shape[2:]))


def drop(layer: DropoutLayer, x: Tensor, keep: Tensor) -> Tensor:
    """The layer's output in training mode if its random mask were `keep`, which broadcasts against `x`."""
    p = float(layer.p)  # type: ignore[arg-type]
    if p >= 1.0:
        return x * keep.to(x.dtype)
    if not isinstance(layer, _ALPHA):
        return x * (keep.to(x.dtype) / (1.0 - p))
    scale = 1.0 / sqrt((1.0 - p) * (1.0 + p * _SELU_FLOOR**2))
    floor = (~keep).to(x.dtype) * _SELU_FLOOR
    return (x * keep.to(x.dtype) + floor) * scale - _SELU_FLOOR * p * scale


@dataclass
class Masks:
    """The masks of all draws; those that fit in `cache_bytes` are kept, others are made again if needed."""

    seed: int
    cache_bytes: int = 256 * 2**20
    _cache: dict[tuple[int, ...], Tensor] = field(default_factory=dict, repr=False)
    _cached_bytes: int = 0

    def keep(self, key: tuple[int, ...], p: float, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """True where a unit stays, under `key` = (draw, place of the layer, earlier calls of the layer)."""
        kept = self._cache.get(key)
        if kept is not None and kept.shape == shape and kept.device == device:
            return kept
        kept = torch.from_numpy(uniforms(self.seed, key, shape) >= p).to(device)
        if self._cached_bytes + kept.numel() <= self.cache_bytes and key not in self._cache:
            self._cache[key] = kept
            self._cached_bytes += kept.numel()
        return kept


def uniforms(seed: int, key: tuple[int, ...], shape: tuple[int, ...]) -> Float[np.ndarray, ...]:
    """Uniform numbers in [0, 1) that depend on seed and key alone."""
    words = np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)).random_raw(prod(shape))
    return ((words >> np.uint64(11)) * 2.0**-53).reshape(shape)
