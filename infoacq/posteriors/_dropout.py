"""The dropout layers of PyTorch: finding them, the shape of their masks, their output under a given mask."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import get_args

from torch import Tensor, nn

DropoutLayer = nn.Dropout | nn.Dropout1d | nn.Dropout2d | nn.Dropout3d | nn.AlphaDropout | nn.FeatureAlphaDropout
_CHANNELWISE = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.FeatureAlphaDropout)
_ALPHA = (nn.AlphaDropout, nn.FeatureAlphaDropout)
_UNBATCHED_RANK = {nn.Dropout1d: 2, nn.Dropout3d: 4}  # torch reads an input of this rank as one single candidate
_SELU_FLOOR = -1.7580993408473766  # what alpha dropout puts in place of a dropped unit: -scale * alpha of SELU


def dropout_layers(model: nn.Module) -> dict[str, DropoutLayer]:
    """The dropout layers by name, in the order of `named_modules`; a layer used twice is listed once.

    Raises:
        TypeError: a layer derives from a dropout layer and has a forward of its own.
    """
    layers: dict[str, DropoutLayer] = {}
    for name, module in model.named_modules():
        if not isinstance(module, DropoutLayer):
            continue
        kind = next(kind for kind in get_args(DropoutLayer) if isinstance(module, kind))
        if type(module).forward is not kind.forward or "forward" in vars(module):
            raise TypeError(
                f"the dropout layer {name!r} is a {type(module).__name__} with a forward of its own, so its masks "
                "cannot be held fixed. Use the plain torch.nn layer: it is turned on by itself."
            )
        layers[name] = module
    return layers


def is_alpha(layer: DropoutLayer) -> bool:
    """Whether the layer puts another number than zero in place of a dropped unit."""
    return isinstance(layer, _ALPHA)


def mask_shape(layer: DropoutLayer, shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of the layer's mask for an input of this shape, batch axis first.

    Raises:
        ValueError: torch would read the input as one candidate without a batch axis.
    """
    if not isinstance(layer, _CHANNELWISE):
        return tuple(shape)
    if _UNBATCHED_RANK.get(type(layer)) == len(shape) or len(shape) < 2:
        raise ValueError(
            f"{type(layer).__name__} got an input of shape {tuple(shape)}, which it reads as one candidate without a "
            "batch axis. Use nn.Dropout for flat features, or add the missing axes."
        )
    return (*shape[:2], *(1 for _ in shape[2:]))


def drop(layer: DropoutLayer, x: Tensor, keep: Tensor) -> Tensor:
    """The layer's output in training mode if its random mask were `keep`, which broadcasts against `x`."""
    p = float(layer.p)
    if p >= 1.0:
        return x * keep.to(x.dtype)
    if not is_alpha(layer):
        return x * (keep.to(x.dtype) / (1.0 - p))
    scale = 1.0 / sqrt((1.0 - p) * (1.0 + p * _SELU_FLOOR**2))
    floor = (~keep).to(x.dtype) * _SELU_FLOOR
    return (x * keep.to(x.dtype) + floor) * scale - _SELU_FLOOR * p * scale
