"""Why not plain dropout? The same network's draws with masks kept for the pool, and with masks of each image's own."""

from typing import Any

import numpy as np
import torch

from benchmarks.objectives.digits import Data, digits, split
from infoacq import BALD, BatchBALD, from_probs, select_batch
from infoacq.posteriors import mc_dropout
from models.digits_mlp import DigitsMLP

COPIES, IMAGES, BATCH, DRAWS = 4, 100, 8, 100


def run() -> list[dict[str, Any]]:
    """BALD and joint information (nats) of an image and its copy, and how many of eight picks are different images."""
    apart = split(digits(), 0)
    model, images = trained(apart.labelled), np.repeat(apart.pool.images[:IMAGES], COPIES, axis=0)
    inputs = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8)
    rows = []
    for name, consistent in (("masks kept for the pool", True), ("masks of each image's own", False)):
        probs = mc_dropout.predict_probs(model, inputs, DRAWS, seed=0, consistent=consistent, progress=False)
        best = select_batch(probs, BALD(), 1)
        first = best.indices[0] // COPIES * COPIES
        pair = select_batch(from_probs(probs[first : first + 2]), BatchBALD(), 2)
        batch = select_batch(probs, BatchBALD(), BATCH, seed=0)
        rows.append(
            {
                "draws": name,
                "largest BALD": round(best.gains[0], 3),
                "an image and its copy": round(pair.scores[-1], 3),
                "different images of eight": len({i // COPIES for i in batch.indices}),
            }
        )
    return rows


def trained(data: Data) -> torch.nn.Module:
    """The network after 300 steps on all of the data."""
    torch.manual_seed(0)
    model = DigitsMLP().train()
    x, y = torch.tensor(data.images, dtype=torch.float32).reshape(-1, 1, 8, 8), torch.tensor(data.labels)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(300):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return model.eval()
