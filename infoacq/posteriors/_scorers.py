"""Class scores under all draws, block by block: by the model's own forward, or by its plan if that agrees with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._chunks import follow
from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._plan import Plan, make_plan
from infoacq.posteriors._trace import NotUnderstoodError

Scorer = Callable[[Iterable[Tensor]], Iterator[Float[Tensor, "n k c"]]]

_log = logging.getLogger(__name__)
_SAMPLE = 4  # candidates on which a plan is compared with the model, under the first and the last of these draws
_SAMPLE_DRAWS = 8
_TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4}
_LOOSE_TOLERANCE = 3e-2  # half precision, and the shortened products of a GPU


def fastest_scorer(runner: MaskedModel, first: Tensor, draws: int, row: int) -> Scorer:
    """A function from blocks of inputs, the first of which is at `row` of the pool, to scores in the same order."""
    plan = _checked_plan(runner, first[:_SAMPLE], draws) if runner.consistent else None
    if plan is None:
        return lambda blocks: _repeat(runner, blocks, draws, row)
    return lambda blocks: follow(plan, runner.model, runner.masks, blocks, draws)


def _repeat(runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int) -> Iterator[Tensor]:
    for block in blocks:
        scores = [class_scores(runner(block, draw, row), len(block)) for draw in range(draws)]
        yield torch.stack(scores, dim=1)
        row += len(block)


def _checked_plan(runner: MaskedModel, sample: Tensor, draws: int) -> Plan | None:
    """A plan that gives the model's own scores on a few candidates; None, and a debug message, if there is none."""
    for deep in (True, False):
        try:
            plan = make_plan(runner.model, runner.masks.layers, sample, deep=deep)
            if _agrees(plan, runner, sample, draws):
                return plan
            reason = "its parts give other scores than its own forward"
        except NotUnderstoodError as error:
            reason = str(error)
        except Exception as error:  # torch.fx and a traced model may raise anything; the model's own forward still runs
            reason = f"{type(error).__name__}: {error}"
        _log.debug("%s is run in full for every draw: %s (deep=%s)", type(runner.model).__name__, reason, deep)
    return None


def _agrees(plan: Plan, runner: MaskedModel, sample: Tensor, draws: int) -> bool:
    draws = min(draws, _SAMPLE_DRAWS)
    by_parts = torch.cat(list(follow(plan, runner.model, runner.masks, [sample], draws)))
    for number in (0, draws - 1):
        own = class_scores(runner(sample, number, 0), len(sample))
        exact = sample.device.type == "cpu"
        tolerance = _TOLERANCE.get(own.dtype, _LOOSE_TOLERANCE) if exact else _LOOSE_TOLERANCE
        if not torch.allclose(own, by_parts[:, number], rtol=tolerance, atol=tolerance):
            return False
    return True
