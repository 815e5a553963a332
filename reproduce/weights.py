"""What a network's features start from: ImageNet's weights, those of a file, or none.

torchvision takes seconds to import, and few experiments need it: its networks are imported where they are used.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

from torch import Tensor, nn

from reproduce.errors import UserError

FROM_IMAGENET, AT_RANDOM = "imagenet", "none"


@dataclass(frozen=True)
class Weights:
    """Where they come from: "imagenet" (torchvision downloads them), "none" (at random), or the path of a file."""

    source: str

    @property
    def name(self) -> str:
        """What logs call them: a file by its name and content, wherever it lies."""
        if self.source in (FROM_IMAGENET, AT_RANDOM):
            return self.source
        with Path(self.source).open("rb") as file:
            return f"{Path(self.source).name} (sha256 {hashlib.file_digest(file, 'sha256').hexdigest()[:12]})"

    def into(self, network: Callable[..., nn.Module]) -> Callable[[], nn.Module]:
        """The network as it starts from these weights; calling it raises UserError where they can't be had."""
        return partial(_build, network, self.source)


IMAGENET = Weights(FROM_IMAGENET)


def vgg16(weights: Mapping[str, Tensor] | None) -> nn.Module:
    """VGG-16 with batch normalisation for ten classes, its features starting from these weights."""
    from models.vgg16 import VGG16

    return VGG16(weights=weights)


def _build(network: Callable[..., nn.Module], source: str) -> nn.Module:
    try:
        return network(weights=_read(source))
    except (OSError, ValueError) as error:
        raise UserError(
            f"--weights {source}: {error}. Give a file with torchvision's weights of vgg16_bn, or --weights {AT_RANDOM}"
            " to start at random."
        ) from error


@lru_cache(maxsize=1)
def _read(source: str) -> dict[str, Tensor] | None:
    from models.vgg16 import feature_weights, imagenet_weights

    if source == AT_RANDOM:
        return None
    return imagenet_weights() if source == FROM_IMAGENET else feature_weights(Path(source))
