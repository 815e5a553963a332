"""The oracle of every faster way: each image through the model's own forward, once for each draw."""

import torch
from torch import Tensor, nn

from infoacq.posteriors._masked import masked


def naive_probs(model: nn.Module, x: Tensor, draws: int, seed: int, *, consistent: bool = True) -> Tensor:
    """Masks of a candidate's own depend on the place of its block of 256 in the pool; others on nothing of the pool."""
    with torch.no_grad(), masked(model, seed, consistent=consistent) as runner:
        blocks = [(row, x[row : row + 256]) for row in range(0, len(x), 256)]
        of_draws = [torch.cat([runner(block, draw, row) for row, block in blocks]) for draw in range(draws)]
        return torch.stack(of_draws, dim=1).softmax(dim=2)
