"""What a trained model predicts under its draws, of the test set and of the pool."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Batches:
    """Some images of a data set, a batch at a time, in the order of `index`; it can be read again and again."""

    images: Float[Tensor, "all channels height width"]
    index: Int[Tensor, " n"]
    size: int

    def __len__(self) -> int:
        return -(-len(self.index) // self.size)

    def __iter__(self) -> Iterator[Float[Tensor, "batch channels height width"]]:
        return (self.images[part] for part in torch.split(self.index, self.size))


def accuracy_and_nll(probs: Float[Tensor, "n k c"], labels: Int[Tensor, " n"]) -> tuple[float, float]:
    """Accuracy, and mean negative log-likelihood (nats), of the mean of the draws.

    A probability that float32 rounded to zero counts as the smallest that it holds, 87 nats.
    """
    mean = probs.double().mean(dim=1)
    hits = (mean.argmax(dim=1) == labels).double().mean()
    likelihood = mean.gather(1, labels[:, None]).clamp_min(torch.finfo(torch.float32).tiny)
    return float(hits), float(-likelihood.log().mean())
