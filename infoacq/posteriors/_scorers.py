"""Class scores under all draws: in the fastest way that gives the model's own scores on a few candidates."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._chunks import follow
from infoacq.posteriors._first_convolution import MIN_CANDIDATES, MIN_DRAWS, ByKernels, find_convolutions
from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._plan import make_plan
from infoacq.posteriors._replay import repeat_with_replay
from infoacq.posteriors._trace import NotUnderstoodError

Scorer = Callable[[Iterable[Tensor], int], Iterator[Float[Tensor, "n k c"]]]  # of blocks and draws

_log = logging.getLogger(__name__)
_SAMPLE = 8  # on so many a way is compared with the model, where no kernels want more
_SAMPLE_DRAWS = MIN_DRAWS  # under the first and the last of these; so many that the sample goes the way of the pool
_TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4}
_LOOSE_TOLERANCE = 3e-2  # half precision, and the shortened products of a GPU


def fastest_scorer(runner: MaskedModel, first: Tensor, draws: int, row: int) -> Scorer:
    """A function from blocks of inputs, the first of which is at `row` of the pool, to scores in the same order."""
    ways: tuple[tuple[str, Callable[[], tuple[Scorer, int]]], ...] = (
        ("the graph of all modules", lambda: _by_plan(runner, first, draws, row, deep=True)),
        ("the graph of the modules with dropout", lambda: _by_plan(runner, first, draws, row, deep=False)),
        ("modules noted before the first dropout", lambda: (partial(repeat_with_replay, runner, row=row), _SAMPLE)),
    )
    name = type(runner.model).__name__
    for way, make in ways:
        try:
            scorer, rows = make()
            if _agrees(scorer, runner, first[:rows], draws, row):
                return scorer
            reason = "it gives other scores than the model's own forward"
        except NotUnderstoodError as error:
            reason = str(error)
        except Exception as error:  # torch.fx and a traced model may raise anything; the model's own forward still runs
            reason = f"{type(error).__name__}: {error}"
        _log.debug("%s: no draws by %s: %s", name, way, reason)
    _log.debug("%s is run in full for every draw", name)
    _warn_of_own_randomness(runner, first[:_SAMPLE], row)
    return partial(repeat_in_full, runner, row=row)


def _by_plan(runner: MaskedModel, first: Tensor, draws: int, row: int, *, deep: bool) -> tuple[Scorer, int]:
    """The way, and how many candidates show whether it is right."""
    plan = make_plan(runner.model, runner.masks.layers, first[:_SAMPLE], deep=deep)
    if plan.in_full:
        _log.debug("each draw runs %s on all channels", ", ".join(map(str, plan.in_full)))
    kernels = find_convolutions(plan, draws, consistent=runner.consistent)
    if kernels and len(first) < MIN_CANDIDATES:
        _log.debug("no kernels for the pool: its first block has %d candidates, not %d", len(first), MIN_CANDIDATES)
        kernels = ByKernels()
    return partial(follow, plan, runner, row=row, kernels=kernels), MIN_CANDIDATES if kernels else _SAMPLE


def repeat_in_full(runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int = 0) -> Iterator[Tensor]:
    """Class scores by the model's own forward, once for each draw; the first block is at `row` of the pool."""
    for block in blocks:
        scores = [class_scores(runner(block, draw, row), len(block)) for draw in range(draws)]
        yield torch.stack(scores, dim=1)
        row += len(block)


def _warn_of_own_randomness(runner: MaskedModel, sample: Tensor, row: int) -> None:
    once, again = (class_scores(runner(sample, 0, row), len(sample)) for _ in range(2))
    if not torch.allclose(once, again, rtol=_LOOSE_TOLERANCE, atol=_LOOSE_TOLERANCE, equal_nan=True):
        warnings.warn(
            f"{type(runner.model).__name__} gives other scores each time that it is run under the same dropout masks: "
            "what it draws itself or remembers is not held fixed, so that draws are no draws of its parameters. Make "
            "that dropout layers, or switch it off in evaluation mode.",
            stacklevel=6,
        )


def _agrees(scorer: Scorer, runner: MaskedModel, sample: Tensor, draws: int, row: int) -> bool:
    draws = min(draws, _SAMPLE_DRAWS)
    scores = torch.cat(list(scorer([sample], draws)))
    exact = sample.device.type == "cpu" or scores.dtype is torch.float64
    tolerance = _TOLERANCE.get(scores.dtype, _LOOSE_TOLERANCE) if exact else _LOOSE_TOLERANCE
    own = [class_scores(runner(sample, number, row), len(sample)) for number in (0, draws - 1)]
    return torch.allclose(torch.stack(own, dim=1), scores[:, [0, draws - 1]], rtol=tolerance, atol=tolerance)
