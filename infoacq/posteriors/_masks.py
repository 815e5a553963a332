"""Which units a draw drops: a function of the seed, the draw and the place of the dropout layer alone.

The uniform numbers come from NumPy's Philox words, whose stream NumPy promises not to change. So a draw has the same
masks on every machine and device, in every shard of a pool, and beside any number of other draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

import numpy as np
import torch
from torch import Tensor

from infoacq.posteriors._dropout import DropoutLayer, mask_shape

Site = tuple[int, int]  # the layer's place among the dropout layers, and how often it was called before in a pass
_WAY_OUT = "or pass consistent=False (fine for BALD, wrong for joint entropies)."


@dataclass
class Masks:
    """The masks of all draws for a model's dropout layers; those that fit in `cache_bytes` are kept."""

    layers: Mapping[str, DropoutLayer]
    seed: int
    cache_bytes: int = 256 * 2**20
    _cache: dict[tuple[int, Site], Tensor] = field(default_factory=dict, repr=False)
    _shapes: dict[Site, tuple[int, ...]] = field(default_factory=dict, repr=False)
    _cached_bytes: int = 0

    def shared(self, draw: int, site: Site, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """True where a unit of an input of this shape stays, for all candidates: (1, ...).

        Raises:
            ValueError: the features had another shape before, so that one mask cannot serve both.
        """
        name, layer = list(self.layers.items())[site[0]]
        shape = (1, *mask_shape(layer, shape)[1:])
        first = self._shapes.setdefault(site, shape)
        if first != shape:
            raise ValueError(
                f"the dropout layer {name!r} got features of shape {shape[1:]}, and {first[1:]} before; one mask for "
                f"all candidates needs one shape. Pad or crop the candidates to one size, {_WAY_OUT}"
            )
        kept = self._cache.get((draw, site))
        if kept is None or kept.device != device:
            kept = self._make(layer, (draw, *site), shape, device)
            if self._cached_bytes + kept.numel() <= self.cache_bytes:
                self._cache[draw, site] = kept
                self._cached_bytes += kept.numel()
        return kept

    def separate(self, draw: int, site: Site, row: int, shape: tuple[int, ...], device: torch.device) -> Tensor:
        """True where a unit stays, for each candidate of a batch that begins at `row` of the pool: (n, ...)."""
        layer = list(self.layers.values())[site[0]]
        return self._make(layer, (draw, *site, row), mask_shape(layer, shape), device)

    def _make(self, layer: DropoutLayer, key: tuple[int, ...], shape: tuple[int, ...], device: torch.device) -> Tensor:
        words = np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)).random_raw(prod(shape))
        uniform = (words >> np.uint64(11)) * 2.0**-53  # in [0, 1)
        return torch.from_numpy((uniform >= layer.p).reshape(shape)).to(device)
