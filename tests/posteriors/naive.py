"""The oracle of every faster way: each image through the model's own forward, once for each draw."""

from itertools import accumulate

import torch
from torch import Tensor, nn

from infoacq.posteriors._masked import masked


def naive_probs(
    model: nn.Module, x: Tensor, draws: int, seed: int, *, consistent: bool = True, blocks: list[int] | int = 256
) -> Tensor:
    """Masks of a candidate's own depend on the place of its block in the pool; others on nothing of the pool."""
    parts = torch.split(x, blocks)
    rows = [0, *accumulate(map(len, parts))]
    with torch.no_grad(), masked(model, seed, consistent=consistent) as runner:
        of_draws = [
            torch.cat([runner(part, draw, row) for row, part in zip(rows, parts, strict=False)])
            for draw in range(draws)
        ]
        return torch.stack(of_draws, dim=1).softmax(dim=2)
