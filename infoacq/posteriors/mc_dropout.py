"""Draws from a model trained with dropout: each draw is one set of masks, held fixed for the whole pool.

What comes before the first dropout layer runs once, and each draw runs as the sub-network that its masks leave, where
the model can be taken apart (see `_scorers`); the result is that of running the model in full for each draw.

Source: Gal & Ghahramani (2016), Dropout as a Bayesian approximation; consistent masks: Kirsch, van Amersfoort & Gal
(2019), BatchBALD (joint entropies need the same parameters for all candidates).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from infoacq.posteriors._compiled import as_written
from infoacq.posteriors._evaluation import device_of, on_device, untouched, warn_of_batch_statistics
from infoacq.posteriors._functional import notice_functional_dropout
from infoacq.posteriors._inputs import Reader, blocks, pool_size
from infoacq.posteriors._masked import MaskedModel, masked
from infoacq.posteriors._npy import Facts, model_digest
from infoacq.posteriors._outputs import Output, check_output_kind
from infoacq.posteriors._scorers import fastest_scorer
from infoacq.posteriors._sinks import Out, Sink, fill, make_sink
from infoacq.posteriors._zarr_writing import as_part, check_same_draws, write


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
    out: Out | Any = None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "n k c"] | Any:
    """Class probabilities of each candidate under each dropout draw, detached and on the CPU.

    Every `nn.Dropout*` layer of the model is turned on, all else runs in evaluation mode, and the model is left as it
    was; of a compiled or parallel one what it wraps runs. Draw j has masks that depend on the seed and on j alone: they
    are the same for each candidate, batch size, device and shard, and asking for more draws keeps the first ones.

    Args:
        model: any module with dropout layers that maps a batch of inputs to (n, c) class scores.
        loader_or_tensor: inputs (n, ...), or a loader of such batches (alone or first in a tuple); rows come in the
            loader's order.
        draws: how many sets of masks, k.
        seed: which sets of masks; not negative.
        consistent: False draws new masks for each batch and candidate, as plain dropout does when training. That is
            fine for BALD and wrong for joint entropies (BatchBALD).
        device: where to run; a copy of the model goes there if it lives elsewhere. None: where the model is.
        progress: show a progress bar on stderr.
        output: what the model returns: "logits", "log_probs" or "probs".
        out: where the result goes, if not to a new tensor: an array or tensor (n, k, c), the path of a .npy file, or an
            array of `zarr_rows.create` (or a `zarr_rows.Part` of one), which is then returned. The same call with the
            same file or array goes on where it was stopped. FILE.partial grows, FILE is complete.
        dtype: of the result; torch.float16 halves it. None: that of the model's output, but float32 at least.

    Raises:
        TypeError: draws or seed are no whole numbers, dtype is no floating one, `model` is no module, it or the loader
            gives no tensor, or a dropout layer has a forward of its own.
        ValueError: no dropout layer, functional dropout that is always on, an empty pool, a loader that drops its last
            batch, features of changing shape, outputs not finite, probabilities as logits, or an unfit `out`.
        RuntimeError: the model is being scored already, say in another thread, or has to move and cannot be copied.
        FileExistsError: `out` is a file that this function has not made.

    Warns:
        UserWarning: all draws are identical, functional dropout stays off, a layer normalises by the batch, the model
            draws random numbers itself.
    """
    _check_arguments(draws, seed)
    check_output_kind(output)
    model = as_written(model)
    facts: Facts = {"draws": int(draws), "seed": int(seed), "consistent": consistent, "output": output}
    part = as_part(out)
    if part is not None or isinstance(out, (str, Path)):
        facts = {**facts, "model_sha256": model_digest(model)}
    if part is not None:
        check_same_draws(consistent, dtype)
        predict = partial(predict_probs, model, draws=draws, seed=seed, device=device, progress=False, output=output)
        return write(part, loader_or_tensor, predict, facts, progress=progress)
    size = pool_size(loader_or_tensor)
    sink = make_sink(out, size, draws, dtype, facts)
    here = on_device(model, device)
    warn_of_batch_statistics(here)
    reader = Reader(blocks(loader_or_tensor), with_checksum="model_sha256" in facts)
    with (
        untouched(device_of(here)),
        masked(here, seed, consistent=consistent) as runner,
        tqdm(total=size, initial=sink.rows, unit="candidate", disable=not progress) as bar,
    ):
        return fill(sink, _scores(runner, reader, draws, sink), reader, output, bar)


def _scores(runner: MaskedModel, reader: Reader, draws: int, sink: Sink) -> Iterator[Float[Tensor, "n k c"]]:
    where, row = device_of(runner.model), sink.rows
    stream = (block.to(where) for block in reader.after(sink.rows, sink.checksum))
    for _, alike in groupby(stream, key=lambda block: block.shape[1:]):  # a way is found for inputs of one shape
        first = next(alike)
        if row == sink.rows:
            notice_functional_dropout(runner, first[:2])
        for scores in fastest_scorer(runner, first, draws, row)(chain([first], alike), draws):
            row += len(scores)
            yield scores


def _check_arguments(draws: int, seed: int) -> None:
    for name, value in (("draws", draws), ("seed", seed)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} must be a whole number; got {value!r}.")
    if draws < 1:
        raise ValueError(f"draws must be at least 1; got {draws}.")
    if seed < 0:
        raise ValueError(f"seed must not be negative; got {seed}.")
