"""Draws from a model trained with dropout: each draw is one set of masks, held fixed for the whole pool.

Source: Gal & Ghahramani (2016), Dropout as a Bayesian approximation; consistent masks: Kirsch, van Amersfoort
& Gal (2019), BatchBALD (joint entropies need the same parameters for all candidates).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable
from itertools import chain
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from infoacq.posteriors._functional import notice_functional_dropout
from infoacq.posteriors._inputs import blocks, device_of, pool_size
from infoacq.posteriors._masked import masked, untouched_random_state, warn_of_batch_statistics
from infoacq.posteriors._outputs import Output, check_output_kind, to_probs
from infoacq.posteriors._scorers import fastest_scorer


def predict_probs(
    model: nn.Module,
    loader_or_tensor: Iterable[Any] | Tensor,
    draws: int,
    *,
    seed: int,
    consistent: bool = True,
    device: torch.device | str | None = None,
    progress: bool = True,
    output: Output = "logits",
) -> Float[Tensor, "n k c"]:
    """Class probabilities of each candidate under each dropout draw, detached and on the CPU.

    Every `nn.Dropout*` layer of the model is turned on, all else runs in evaluation mode, and the model is
    left as it was. Draw j has masks that depend on the seed and on j alone: they are the same for each
    candidate, batch size, device and shard, and asking for more draws keeps the first ones.

    Args:
        model: any module with dropout layers that maps a batch of inputs to (n, c) class scores.
        loader_or_tensor: inputs (n, ...), or a loader of such batches (alone or first in a tuple); rows come
            in the loader's order.
        draws: how many sets of masks, k.
        seed: which sets of masks; not negative.
        consistent: False draws new masks for each batch and candidate, as plain dropout does when training.
            That is fine for BALD and wrong for joint entropies (BatchBALD).
        device: where to run; a copy of the model goes there if it lives elsewhere. None: where the model is.
        progress: show a progress bar on stderr.
        output: what the model returns: "logits", "log_probs" or "probs".

    Raises:
        TypeError: the model or the loader gives no tensor, or a dropout layer has a forward of its own.
        ValueError: no dropout layer, functional dropout that is always on, an empty pool, a loader that drops
            its last batch, features of changing shape, outputs not finite, or probabilities as logits.

    Warns:
        UserWarning: all draws are identical, functional dropout stays off, a layer normalises by the batch.
    """
    _check_arguments(draws, seed)
    check_output_kind(output)
    size = pool_size(loader_or_tensor)
    where = device_of(model) if device is None else torch.device(device)
    here = model if where == device_of(model) else copy.deepcopy(model).to(where)
    warn_of_batch_statistics(here)
    rows: list[Tensor] = []
    row = 0
    with (
        torch.inference_mode(False),
        torch.no_grad(),
        untouched_random_state(where),
        masked(here, seed, consistent=consistent) as runner,
        tqdm(total=size, unit="candidate", disable=not progress) as bar,
    ):
        stream = (block.to(where) for block in blocks(loader_or_tensor))
        first = next(stream, None)
        if first is None:
            raise ValueError("the pool is empty: there is no candidate to predict.")
        notice_functional_dropout(runner, first[:2])
        score = fastest_scorer(runner, first, draws, row)
        for scores in score(chain([first], stream), draws):
            rows.append(to_probs(scores, output, row).cpu())
            row += len(scores)
            bar.update(len(scores))
    probs = torch.cat(rows)
    if draws > 1 and bool((probs == probs[:, :1]).all()):
        warnings.warn("all draws are identical: is every dropout probability 0?", stacklevel=2)
    return probs


def _check_arguments(draws: int, seed: int) -> None:
    if draws < 1:
        raise ValueError(f"draws must be at least 1; got {draws}.")
    if seed < 0:
        raise ValueError(f"seed must not be negative; got {seed}.")
