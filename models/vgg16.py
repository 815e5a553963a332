"""The network of the CINIC-10 experiment: VGG-16 with a small classifier, and what its features may start from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torchvision.models import VGG16_BN_Weights, VGG16_Weights, vgg16, vgg16_bn


class VGG16(nn.Module):
    """Logits of colour images: torchvision's VGG-16, its classifier replaced by dropout, 512 units and the classes.

    All dropout is behind the features, so that these are computed once, however many draws there are. They are averaged
    to 512 numbers; of images of 32x32 pixels a single one is left in each channel anyway.

    Args:
        num_classes: how many logits.
        batch_norm: normalise in the features and behind the 512 units, as the runs did that the paper's authors
            published; False: VGG-16 as it was first described.
        weights: what the features start from (see `feature_weights`); None: torchvision's random initialisation.

    Raises:
        ValueError: the weights are not those of these features.

    Source: Kirsch, van Amersfoort & Gal (2019), BatchBALD, section 4.
    """

    def __init__(
        self, num_classes: int = 10, *, batch_norm: bool = True, weights: Mapping[str, Tensor] | None = None
    ) -> None:
        super().__init__()
        self.features = (vgg16_bn if batch_norm else vgg16)().features
        if weights is not None:
            _start_from(self.features, weights, "vgg16_bn" if batch_norm else "vgg16")
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(0.5)
        self.hidden = nn.Linear(512, 512)
        self.norm = nn.BatchNorm1d(512) if batch_norm else nn.Identity()
        self.relu = nn.ReLU()
        self.classes = nn.Linear(512, num_classes)

    def forward(self, images: Float[Tensor, "n 3 height width"]) -> Float[Tensor, "n c"]:
        x = self.dropout(self.pool(self.features(images)).flatten(1))
        logits: Tensor = self.classes(self.relu(self.norm(self.hidden(x))))
        return logits


def imagenet_weights(*, batch_norm: bool = True) -> dict[str, Tensor]:
    """The features' weights that torchvision publishes for ImageNet, downloaded (500 MB) the first time.

    Raises:
        OSError: the download failed.
    """
    published = VGG16_BN_Weights.IMAGENET1K_V1 if batch_norm else VGG16_Weights.IMAGENET1K_V1
    return _of_features(published.get_state_dict(progress=True, check_hash=True))


def feature_weights(path: Path) -> dict[str, Tensor]:
    """The features' weights of a file, a state dict as torchvision publishes it or as `VGG16(...).state_dict()`.

    Raises:
        OSError: the file can't be read.
        ValueError: it is no state dict, or has no weights of features.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # what is no file of torch.save raises whatever its bytes happen to mean
        raise ValueError(f"{path} is no file that torch.save has written ({type(error).__name__})") from error
    features = _of_features(state) if isinstance(state, Mapping) else {}
    if not features:
        raise ValueError(f"{path} holds no state dict with names as features.0.weight: torch.save(model.state_dict())")
    return features


def _of_features(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    prefix = "features."
    return {name.removeprefix(prefix): value for name, value in state.items() if str(name).startswith(prefix)}


def _start_from(features: nn.Module, weights: Mapping[str, Tensor], name: str) -> None:
    try:
        features.load_state_dict(weights)
    except RuntimeError as error:
        first = " ".join(str(error).splitlines()[1:2]).strip()
        raise ValueError(f"the weights are not those of torchvision's {name} ({first})") from error
