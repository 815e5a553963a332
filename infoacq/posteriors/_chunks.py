"""Following a plan through the pool: what draws share once a block, the rest once a block and draw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.fx import Node
from torch.fx.node import map_arg

from infoacq.posteriors._evaluation import device_of
from infoacq.posteriors._first_convolution import ByKernels, FirstConvolution
from infoacq.posteriors._masked import MaskedModel
from infoacq.posteriors._masks import Masks
from infoacq.posteriors._ops import Kind, extremes
from infoacq.posteriors._outputs import class_scores
from infoacq.posteriors._own_masks import ends_of_own_draws
from infoacq.posteriors._parts import Part
from infoacq.posteriors._plan import Plan
from infoacq.posteriors._planes import DrawsByKernels, end_of_all, ends_of_draws, known_of_draws
from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._subnetwork import Draw, convolve
from infoacq.posteriors._threads import Map, fitting_number, workers
from infoacq.posteriors._trace import call

_CHUNK_ROWS = 256  # for each thread
_CHUNK_BYTES = 64 * 2**20
_ENDS_BYTES = 256 * 2**20  # what kernels may hold for some draws: all that they may hand on, and weights


@dataclass(frozen=True)
class _Block:
    """What the draws share for some candidates."""

    carried: dict[Node, Any]
    rows: int
    start: int  # place of the first in the pool
    whole: bool  # a channel that draws may leave out holds what is no number

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in self.carried.values() if isinstance(value, Tensor))


@dataclass(frozen=True)
class _Follower:
    """A plan for a model, and what it takes to run it."""

    plan: Plan
    model: nn.Module
    masks: Masks
    draws: int
    consistent: bool
    first: FirstConvolution | None
    threads: int
    _known: dict[range, list[DrawsByKernels]] = field(default_factory=dict)

    def scores(self, chunk: list[_Block]) -> Float[Tensor, "n k c"]:
        """One draw after the other over the whole chunk: the weights of a sub-network are cut out once a chunk."""
        columns: list[Tensor] = []
        with workers(min(self.threads, self.draws)) as in_threads:
            for numbers in self._groups(sum(block.rows for block in chunk)):
                ends = self._ends(numbers, chunk, in_threads)
                columns += in_threads(partial(self._column, chunk, ends), enumerate(numbers))
                self._give_back(ends)
        return torch.stack(columns, dim=1)

    @property
    def rows(self) -> int:
        """How many candidates a chunk has at least, but the last one."""
        rows = _CHUNK_ROWS * max(2, self.threads)
        if self.first is not None:
            fitting = _ENDS_BYTES // (self.draws * self.first.row_bytes)
            rows = max(LANES, min(rows, fitting) // LANES * LANES)  # whole groups of the kernels
        return rows

    def pieces(self, block: Tensor) -> Sequence[Tensor]:
        """A block cut so that what the kernels give for it can be held."""
        # A model may look at all candidates of a block; and masks of a candidate's own are drawn for a whole one.
        may_cut = self.first is not None and self.consistent and self.plan.keeps_candidates_apart
        return torch.split(block, self.rows) if may_cut else (block,)

    def _groups(self, rows: int) -> Iterator[range]:
        of_draw = 0 if self.first is None else rows * self.first.row_bytes + self.first.draw_bytes
        group = max(1, _ENDS_BYTES // of_draw) if of_draw else self.draws
        group = -(-self.draws // -(-self.draws // group))  # as many in each
        return (range(start, min(start + group, self.draws)) for start in range(0, self.draws, group))

    def _ends(self, numbers: range, chunk: list[_Block], in_threads: Map) -> list[list[dict[Node, Any]]]:
        """For each block and draw, the nodes that are known beforehand."""
        if self.first is None:
            return [[{} for _ in numbers] for _ in chunk]
        first, inputs = self.first, [block.carried[self.first.source] for block in chunk]
        ends: list[list[Part | None]]
        if self.consistent:
            draws = [Draw(number, self.plan, self.masks) for number in numbers]
            known = self._known.get(numbers) or known_of_draws(first, draws, inputs[0], in_threads)
            if len(draws) == self.draws:  # else the next group of draws needs the room
                self._known[numbers] = known
            ends = ends_of_draws(first, draws, known, inputs, in_threads)
        else:
            own = [[Draw(number, self.plan, self.masks, block.start) for number in numbers] for block in chunk]
            ends = [ends_of_own_draws(first, *each, in_threads) for each in zip(own, inputs, strict=True)]
        return [[{} if end is None else {first.end: end, **first.skipped} for end in of_block] for of_block in ends]

    def _give_back(self, ends: list[list[dict[Node, Any]]]) -> None:
        for known in ends:
            parts = [part for draw in known for part in draw.values() if isinstance(part, Part)]
            if parts and self.first is not None:  # all of a block's parts are views of one room
                self.first.rooms.give(parts[0].tensor)

    def _column(
        self, chunk: list[_Block], ends: list[list[dict[Node, Any]]], place_and_number: tuple[int, int]
    ) -> Float[Tensor, "n c"]:
        place, number = place_and_number
        shared = Draw(number, self.plan, self.masks)
        scores = []
        for block, known in zip(chunk, ends, strict=True):
            row = None if self.consistent else block.start
            draw = Draw(number, self.plan, self.masks, row, block.whole) if block.whole or row is not None else shared
            scores.append(class_scores(draw.run(block.carried | known[place]), block.rows))
        return torch.cat(scores)


def follow(
    plan: Plan, runner: MaskedModel, blocks: Iterable[Tensor], draws: int, row: int, *, kernels: ByKernels
) -> Iterator[Float[Tensor, "n k c"]]:
    """Class scores of all draws for chunks of blocks, in order; memory does not grow with the number of blocks.

    The first block is at `row` of the pool.
    """
    model, consistent = runner.model, runner.consistent
    threads = fitting_number() if plan.is_reentrant and device_of(model).type == "cpu" else 1
    follower = _Follower(plan, model, runner.masks, draws, consistent, kernels.first, threads)
    chunk: list[_Block] = []
    for piece in chain.from_iterable(map(follower.pieces, blocks)):
        carried = _run_shared(plan, kernels, piece)
        whole = not all(extremes(carried[node]).isfinite().all() for node in plan.cut_first)
        chunk.append(_Block(carried, len(piece), row, whole))
        row += len(piece)
        rows, size = sum(b.rows for b in chunk), sum(b.nbytes for b in chunk)
        if rows >= follower.rows or size >= _CHUNK_BYTES:
            yield follower.scores(chunk)
            chunk = []
    if chunk:
        yield follower.scores(chunk)


def _run_shared(plan: Plan, kernels: ByKernels, block: Tensor) -> dict[Node, Any]:
    values: dict[Node, Any] = {}
    by_kernel, source = kernels.shared, kernels.first and kernels.first.source
    for step in plan.once:
        node = step.node
        if node in values:
            continue
        args, kwargs = map_arg((node.args, node.kwargs), values.__getitem__)
        if node.op == "placeholder":
            values[node] = args[0] if values else block
        elif node.op == "get_attr":
            values[node] = node.meta["value"]
        elif node in by_kernel and (end := end_of_all(by_kernel[node], values[node.all_input_nodes[0]])) is not None:
            values |= dict.fromkeys((node, *by_kernel[node].nodes)) | {by_kernel[node].end: end}
        elif step.kind is Kind.CONVOLVE:
            x: Any = args[0]
            values[node] = convolve(step.module, x, step.module.weight, step.module.bias)
        else:
            values[node] = call(node, step.module, args, kwargs)
    return {node: values[node] if node is source else _plain(values[node]) for node in plan.carried}


def _plain(value: Any) -> Any:
    """Channels first: from there the draws cut their own channels, where no kernel reads them."""
    return value.contiguous() if isinstance(value, Tensor) and value.device.type == "cpu" else value
