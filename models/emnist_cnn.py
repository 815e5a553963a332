"""The network of the EMNIST experiment: three convolution blocks and a small classifier, all with dropout."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn


class EMNISTCNN(nn.Module):
    """Logits of 28x28 grey images; p = 0.5 everywhere, whole channels are dropped after convolutions.

    The second block pools only with `pool_every_block`, as the paper's text reads: 128 features are left then. The runs
    that its authors published pooled in the first and the third block only, which leaves 128 x 4 x 4.

    Source: Kirsch, van Amersfoort & Gal (2019), BatchBALD, section 4.
    """

    def __init__(self, num_classes: int = 47, *, pool_every_block: bool = False) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, kernel_size=3)
        self.drop1 = nn.Dropout2d(0.5)
        self.conv2 = nn.Conv2d(32, 64, kernel_size=3)
        self.drop2 = nn.Dropout2d(0.5)
        self.conv3 = nn.Conv2d(64, 128, kernel_size=3)
        self.drop3 = nn.Dropout2d(0.5)
        self.pool = nn.MaxPool2d(2)
        self.second_pool = nn.MaxPool2d(2) if pool_every_block else nn.Identity()
        self.relu = nn.ReLU()
        self.hidden = nn.Linear(128 if pool_every_block else 128 * 4 * 4, 512)
        self.drop4 = nn.Dropout(0.5)
        self.classes = nn.Linear(512, num_classes)

    def forward(self, images: Float[Tensor, "n 1 28 28"]) -> Float[Tensor, "n c"]:
        x = self.relu(self.pool(self.drop1(self.conv1(images))))
        x = self.relu(self.second_pool(self.drop2(self.conv2(x))))
        x = self.relu(self.pool(self.drop3(self.conv3(x))))
        x = self.relu(self.drop4(self.hidden(x.flatten(1))))
        logits: Tensor = self.classes(x)
        return logits
