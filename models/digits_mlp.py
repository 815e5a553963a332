"""A multilayer perceptron with dropout for the 8x8 digits of scikit-learn."""

from jaxtyping import Float
from torch import Tensor, nn


class DigitsMLP(nn.Module):
    """Two hidden layers of 256 units with dropout (p = 0.5) behind each; 64 pixels need no convolutions."""

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        self.hidden1 = nn.Linear(64, 256)
        self.dropout1 = nn.Dropout(0.5)
        self.hidden2 = nn.Linear(256, 256)
        self.dropout2 = nn.Dropout(0.5)
        self.out = nn.Linear(256, num_classes)

    def forward(self, images: Float[Tensor, "n 1 8 8"]) -> Float[Tensor, "n c"]:
        """The logits of each image."""
        x = self.dropout1(self.hidden1(images.flatten(1)).relu())
        x = self.dropout2(self.hidden2(x).relu())
        logits: Tensor = self.out(x)
        return logits
