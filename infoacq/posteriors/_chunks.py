"""Following a plan through the pool: what draws share once a block, the rest once a block and draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.fx import Node
from torch.fx.node import map_arg

from infoacq.posteriors._first_convolution import FirstConvolution, ends_of_draws, find_first_convolution
from infoacq.posteriors._masks import Masks
from infoacq.posteriors._ops import Kind
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._plan import Plan
from infoacq.posteriors._subnetwork import Draw, convolve
from infoacq.posteriors._trace import attribute_of, call

_CHUNK_ROWS = 512
_CHUNK_BYTES = 64 * 2**20
_ENDS_BYTES = 128 * 2**20  # what may be held of a convolution's outputs for many draws


@dataclass(frozen=True)
class _Block:
    """What the draws share for some candidates."""

    carried: dict[Node, Any]
    rows: int

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in self.carried.values() if isinstance(value, Tensor))


def follow(
    plan: Plan, model: nn.Module, masks: Masks, blocks: Iterable[Tensor], draws: int
) -> Iterator[Float[Tensor, "n k c"]]:
    """Class scores of all draws for chunks of blocks, in order; memory does not grow with the number of blocks."""
    first = find_first_convolution(plan, draws)
    chunk: list[_Block] = []
    for block in blocks:
        chunk.append(_Block(_run_shared(plan, model, block), len(block)))
        full = sum(b.rows for b in chunk) >= _CHUNK_ROWS or sum(b.nbytes for b in chunk) >= _CHUNK_BYTES
        if full:
            yield _score(plan, first, masks, chunk, draws)
            chunk = []
    if chunk:
        yield _score(plan, first, masks, chunk, draws)


def _run_shared(plan: Plan, model: nn.Module, block: Tensor) -> dict[Node, Any]:
    values: dict[Node, Any] = {}
    for step in plan.once:
        node = step.node
        args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
        if node.op == "placeholder":
            values[node] = args[0] if values else block
        elif node.op == "get_attr":
            values[node] = attribute_of(node, model)
        elif step.kind is Kind.CONVOLVE:
            x: Any = args[0]
            values[node] = convolve(step.module, x, step.module.weight, step.module.bias)
        else:
            values[node] = call(node, step.module, args, kwargs)
    return {node: values[node] for node in plan.carried}


def _score(plan: Plan, first: FirstConvolution | None, masks: Masks, chunk: list[_Block], draws: int) -> Tensor:
    """One draw after the other over the whole chunk: the weights of a sub-network are cut out once a chunk."""
    columns: list[Tensor] = []
    group = draws if first is None else _group_size(first, sum(block.rows for block in chunk))
    for start in range(0, draws, group):
        numbers = range(start, min(start + group, draws))
        ends = [_ends(plan, first, masks, block, numbers) for block in chunk]
        for i, number in enumerate(numbers):
            draw = Draw(number, plan, masks)
            scores = [
                class_scores(draw.run(block.carried | of_block[i]), block.rows)
                for block, of_block in zip(chunk, ends, strict=True)
            ]
            columns.append(torch.cat(scores))
    return torch.stack(columns, dim=1)


def _ends(
    plan: Plan, first: FirstConvolution | None, masks: Masks, block: _Block, numbers: range
) -> list[dict[Node, Any]]:
    """For each draw, the nodes that are known beforehand."""
    if first is None:
        return [{} for _ in numbers]
    draws = [Draw(number, plan, masks) for number in numbers]
    parts = ends_of_draws(first, draws, block.carried[first.source])
    return [{} if part is None else {first.end: part, **first.skipped} for part in parts]


def _group_size(first: FirstConvolution, rows: int) -> int:
    row_bytes = prod(first.end.meta["shape"][1:]) * first.convolution.module.weight.element_size()
    return int(max(1, _ENDS_BYTES // (rows * row_bytes)))
