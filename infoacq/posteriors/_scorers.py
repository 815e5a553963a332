"""Class scores under all draws, block by block: by the model's own forward, or by its plan if that agrees with it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.fx import Node
from torch.fx.node import map_arg

from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._plan import Plan, make_plan
from infoacq.posteriors._subnetwork import Draw
from infoacq.posteriors._trace import NotUnderstoodError, attribute_of, call

Scorer = Callable[[Iterable[Tensor]], Iterator[Float[Tensor, "n k c"]]]

_log = logging.getLogger(__name__)
_SAMPLE = 4  # candidates on which a plan is compared with the model
_CHUNK_ROWS = 512
_CHUNK_BYTES = 64 * 2**20
_TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-4}
_LOOSE_TOLERANCE = 3e-2  # half precision, and the shortened products of a GPU


def fastest_scorer(runner: MaskedModel, first: Tensor, draws: int, row: int) -> Scorer:
    """A function from blocks of inputs, the first of which is at `row` of the pool, to scores in the same order."""
    plan = _checked_plan(runner, first[:_SAMPLE], draws) if runner.consistent else None
    if plan is None:
        return lambda blocks: _repeat(runner, blocks, draws, row)
    return lambda blocks: _follow(plan, runner, blocks, draws)


def _repeat(runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int) -> Iterator[Tensor]:
    for block in blocks:
        scores = [class_scores(runner(block, draw, row), len(block)) for draw in range(draws)]
        yield torch.stack(scores, dim=1)
        row += len(block)


def _follow(plan: Plan, runner: MaskedModel, blocks: Iterable[Tensor], draws: int) -> Iterator[Tensor]:
    """Blocks are gathered into chunks, so that the weights of a draw's sub-network are cut out once a chunk."""
    chunk: list[tuple[dict[Node, Any], int]] = []
    rows = size = 0
    for block in blocks:
        carried = _carry(plan, runner, block)
        chunk.append((carried, len(block)))
        rows += len(block)
        size += sum(value.nbytes for value in carried.values() if isinstance(value, Tensor))
        if rows >= _CHUNK_ROWS or size >= _CHUNK_BYTES:
            yield _score_chunk(plan, runner, chunk, draws)
            chunk, rows, size = [], 0, 0
    if chunk:
        yield _score_chunk(plan, runner, chunk, draws)


def _score_chunk(plan: Plan, runner: MaskedModel, chunk: list[tuple[dict[Node, Any], int]], draws: int) -> Tensor:
    columns = []
    for number in range(draws):
        draw = Draw(number, plan, runner.masks)
        columns.append(torch.cat([class_scores(draw.run(carried), rows) for carried, rows in chunk]))
    return torch.stack(columns, dim=1)


def _carry(plan: Plan, runner: MaskedModel, block: Tensor) -> dict[Node, Any]:
    """Run what all draws share; keep what they read."""
    values: dict[Node, Any] = {}
    for node in plan.once:
        if node.op == "placeholder":
            values[node] = node.args[0] if values else block
        elif node.op == "get_attr":
            values[node] = attribute_of(node, runner.model)
        else:
            args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
            values[node] = call(node, plan.modules.get(node), args, kwargs)
    return {node: values[node] for node in plan.carried}


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
        except Exception as error:  # torch.fx and a model under tracing may raise anything; the model itself still runs
            reason = f"{type(error).__name__}: {error}"
        _log.debug("%s is run in full for every draw: %s (deep=%s)", type(runner.model).__name__, reason, deep)
    return None


def _agrees(plan: Plan, runner: MaskedModel, sample: Tensor, draws: int) -> bool:
    for number in {0, draws - 1}:
        own = class_scores(runner(sample, number, 0), len(sample))
        by_parts = class_scores(Draw(number, plan, runner.masks).run(_carry(plan, runner, sample)), len(sample))
        exact = sample.device.type == "cpu"
        tolerance = _TOLERANCE.get(own.dtype, _LOOSE_TOLERANCE) if exact else _LOOSE_TOLERANCE
        if own.shape != by_parts.shape or not torch.allclose(own, by_parts, rtol=tolerance, atol=tolerance):
            return False
    return True
