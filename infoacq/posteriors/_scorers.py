"""Class scores under all draws: in the fastest way that gives the model's own scores on a few candidates."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._chunks import follow
from infoacq.posteriors._first_convolution import MIN_CANDIDATES, MIN_DRAWS
from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._plan import make_plan
from infoacq.posteriors._replay import repeat_with_replay
from infoacq.posteriors._trace import NotUnderstoodError

Scorer = Callable[[Iterable[Tensor], int], Iterator[Float[Tensor, "n k c"]]]  # of blocks and draws

_log = logging.getLogger(__name__)
_SAMPLE = MIN_CANDIDATES  # on these a way is compared with the model, under the first and the last of these draws
_SAMPLE_DRAWS = MIN_DRAWS  # so that the sample goes the way of the pool
_TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4}
_LOOSE_TOLERANCE = 3e-2  # half precision, and the shortened products of a GPU


def fastest_scorer(runner: MaskedModel, first: Tensor, draws: int, row: int) -> Scorer:
    """A function from blocks of inputs, the first of which is at `row` of the pool, to scores in the same order."""
    ways: tuple[tuple[str, Callable[[], Scorer]], ...] = (
        ("the graph of all modules", lambda: _by_plan(runner, sample, row, deep=True)),
        ("the graph of the modules with dropout", lambda: _by_plan(runner, sample, row, deep=False)),
        ("modules noted before the first dropout", lambda: partial(repeat_with_replay, runner, row=row)),
    )
    sample, name = first[:_SAMPLE], type(runner.model).__name__
    for way, make in ways:
        try:
            scorer = make()
            if _agrees(scorer, runner, sample, draws, row):
                return scorer
            reason = "it gives other scores than the model's own forward"
        except NotUnderstoodError as error:
            reason = str(error)
        except Exception as error:  # torch.fx and a traced model may raise anything; the model's own forward still runs
            reason = f"{type(error).__name__}: {error}"
        _log.debug("%s: no draws by %s: %s", name, way, reason)
    _log.debug("%s is run in full for every draw", name)
    return partial(repeat_in_full, runner, row=row)


def _by_plan(runner: MaskedModel, sample: Tensor, row: int, *, deep: bool) -> Scorer:
    plan = make_plan(runner.model, runner.masks.layers, sample, deep=deep)
    return partial(follow, plan, runner, row=row, by_kernels=len(sample) >= MIN_CANDIDATES)


def repeat_in_full(runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int = 0) -> Iterator[Tensor]:
    """Class scores by the model's own forward, once for each draw; the first block is at `row` of the pool."""
    for block in blocks:
        scores = [class_scores(runner(block, draw, row), len(block)) for draw in range(draws)]
        yield torch.stack(scores, dim=1)
        row += len(block)


def _agrees(scorer: Scorer, runner: MaskedModel, sample: Tensor, draws: int, row: int) -> bool:
    draws = min(draws, _SAMPLE_DRAWS)
    scores = torch.cat(list(scorer([sample], draws)))
    exact = sample.device.type == "cpu"
    tolerance = _TOLERANCE.get(scores.dtype, _LOOSE_TOLERANCE) if exact else _LOOSE_TOLERANCE
    own = [class_scores(runner(sample, number, row), len(sample)) for number in (0, draws - 1)]
    return torch.allclose(torch.stack(own, dim=1), scores[:, [0, draws - 1]], rtol=tolerance, atol=tolerance)
