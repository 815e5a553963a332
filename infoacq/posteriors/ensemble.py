"""Draws from a list of networks: each member, trained from its own start, is one draw.

Source: Lakshminarayanan, Pritzel & Blundell (2017), Simple and scalable predictive uncertainty estimation using deep
ensembles. For scikit-learn's ensembles and classifiers see `infoacq.posteriors.classifiers`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm import tqdm

from infoacq.posteriors._evaluation import device_of, evaluating, on_device, untouched, warn_of_batch_statistics
from infoacq.posteriors._functional import refuse_dropout_that_is_on
from infoacq.posteriors._inputs import Reader, blocks, pool_size
from infoacq.posteriors._npy import Facts, model_digest
from infoacq.posteriors._outputs import Output, check_output_kind, class_scores
from infoacq.posteriors._sinks import Out, Sink, fill, make_sink
from infoacq.posteriors._zarr_writing import as_part, check_same_draws, write


def predict_probs(
    members: Sequence[nn.Module],
    loader_or_tensor: Iterable[Any] | Tensor,
    *,
    device: torch.device | str | None = None,
    progress: bool = True,
    output: Output = "logits",
    out: Out | Any = None,
    dtype: torch.dtype | None = None,
) -> Float[Tensor, "n k c"] | Any:
    """Class probabilities of each candidate under each member, detached and on the CPU; draw j is member j.

    Members run in evaluation mode and are left as they were.

    Args:
        members: modules that map a batch of inputs to (n, c) class scores of the same classes.
        loader_or_tensor: inputs (n, ...), or a loader of such batches (alone or first in a tuple).
        device: where to run; copies of members that live elsewhere go there. None: where each member is.
        progress: show a progress bar on stderr.
        output: what the members return: "logits", "log_probs" or "probs".
        out: an array or tensor (n, k, c), or the path of a .npy file or an array of `zarr_rows.create` (or a
            `zarr_rows.Part` of one), with which the same call goes on when stopped.
        dtype: of the result; None: that of the members' output, but float32 at least.

    Raises:
        TypeError: a member or the loader gives no tensor, or dtype is no floating one.
        ValueError: no members, dropout that is on in evaluation mode, an empty pool, outputs that differ in shape, are
            not finite or not what `output` says, or an unfit `out` or dtype.
        RuntimeError: a member has to move and cannot be copied.

    Warns:
        UserWarning: all members agree exactly, or a layer normalises by the batch.
    """
    if not members:
        raise ValueError("members is empty: give at least one trained module.")
    check_output_kind(output)
    facts: Facts = {"members": len(members), "output": output}
    part = as_part(out)
    if part is not None or isinstance(out, (str, Path)):
        facts = {**facts, "members_sha256": sha256("".join(map(model_digest, members)).encode()).hexdigest()}
    if part is not None:
        check_same_draws(True, dtype)
        predict = partial(predict_probs, members, device=device, progress=False, output=output)
        return write(part, loader_or_tensor, predict, facts, progress=progress)
    size = pool_size(loader_or_tensor)
    sink = make_sink(out, size, len(members), dtype, facts)
    here = [on_device(member, device) for member in members]
    reader = Reader(blocks(loader_or_tensor), with_checksum="members_sha256" in facts)
    with ExitStack() as stack:
        for member in here:
            warn_of_batch_statistics(member)
            stack.enter_context(untouched(device_of(member)))
            stack.enter_context(evaluating(member))
        bar = stack.enter_context(tqdm(total=size, initial=sink.rows, unit="candidate", disable=not progress))
        return fill(sink, _scores(here, reader, sink), reader, output, bar)


def _scores(members: Sequence[nn.Module], reader: Reader, sink: Sink) -> Iterator[Float[Tensor, "n k c"]]:
    stream = reader.after(sink.rows, sink.checksum)
    first = next(stream, None)
    if first is None:
        return
    for number, member in enumerate(members):
        refuse_dropout_that_is_on(member, first[:2].to(device_of(member)), number)
    for block in chain([first], stream):
        scores = [class_scores(member(block.to(device_of(member), copy=True)), len(block)).cpu() for member in members]
        widths = {score.shape[1] for score in scores}
        if len(widths) > 1:
            raise ValueError(f"members must predict the same classes; got {sorted(widths)} classes.")
        yield torch.stack(scores, dim=1)
