"""The network of the MNIST experiments: two convolution blocks and a small classifier, all with dropout."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn


class MNISTCNN(nn.Module):
    """Logits of small grey images; p = 0.5 everywhere, whole channels are dropped after convolutions.

    Source: Kirsch, van Amersfoort & Gal (2019), BatchBALD, section 4.
    """

    def __init__(self, num_classes: int = 10, in_channels: int = 1, image_size: int = 28) -> None:
        super().__init__()
        side = ((image_size - 4) // 2 - 4) // 2
        if side < 1:
            raise ValueError(
                f"image_size must be at least 16 (two 5x5 convolutions, two 2x2 poolings); got {image_size}. "
                "Enlarge the images (torch.nn.functional.interpolate) or use a smaller network."
            )
        self.conv1 = nn.Conv2d(in_channels, 32, kernel_size=5)
        self.drop1 = nn.Dropout2d(0.5)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=5)
        self.drop2 = nn.Dropout2d(0.5)
        self.pool = nn.MaxPool2d(2)
        self.relu = nn.ReLU()
        self.hidden = nn.Linear(64 * side * side, 128)
        self.drop3 = nn.Dropout(0.5)
        self.classes = nn.Linear(128, num_classes)

    def forward(self, images: Float[Tensor, "n channels side side"]) -> Float[Tensor, "n c"]:
        x = self.relu(self.pool(self.drop1(self.conv1(images))))
        x = self.relu(self.pool(self.drop2(self.conv2(x))))
        x = self.relu(self.drop3(self.hidden(x.flatten(1))))
        logits: Tensor = self.classes(x)
        return logits
