"""Which convolutions of a plan the kernels run: those behind the first dropout, and those of images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod

from torch.fx import Node

from infoacq.posteriors._convolutions import Convolution, is_eligible
from infoacq.posteriors._linear_layer import LinearLayer, find_linear
from infoacq.posteriors._plan import Plan, Step
from infoacq.posteriors._rooms import Rooms

MIN_DRAWS = 6  # fewer do not pay for the addends
MIN_CANDIDATES = 24  # in a block; fewer leave too many of the kernels' LANES empty
_FEW_CHANNELS = 4  # of images; PyTorch's convolution of them is slow


@dataclass(frozen=True)
class FirstConvolution:
    """The convolution behind the first dropout of whole channels, with what kernels run behind it."""

    convolution: Convolution
    further: tuple[Convolution, ...] = ()
    linear: LinearLayer | None = None
    rooms: Rooms = field(default_factory=Rooms)

    @property
    def source(self) -> Node:
        """The node whose value all draws share."""
        return self.convolution.dropped.node.all_input_nodes[0]

    @property
    def chain(self) -> tuple[Convolution, ...]:
        """All of them, in order."""
        return (self.convolution, *self.further)

    @property
    def dropouts(self) -> tuple[Node, ...]:
        """Those of whole channels before, between and behind them, and the one behind the linear layer."""
        before = (*(convolution.dropped.node for convolution in self.chain), self.last.until)
        return before if self.until in (None, self.last.until) else (*before, self.until)

    @property
    def last(self) -> Convolution:
        """The last of the convolutions."""
        return self.chain[-1]

    @property
    def until(self) -> Node | None:
        """The dropout that cuts the value that is found."""
        return self.last.until if self.linear is None else self.linear.step.until

    @property
    def end(self) -> Node:
        """The node whose value is found for all draws."""
        return self.last.end if self.linear is None else self.linear.step.node

    @property
    def shape(self) -> tuple[int, ...]:
        """Of that value, for one candidate."""
        module = self.last.step.module if self.linear is None else self.linear.step.module
        return (len(module.weight), *(self.last.handed_on if self.linear is None else ()))

    @property
    def row_bytes(self) -> int:
        """What that value takes for one candidate."""
        return prod(self.shape) * int(self.convolution.step.module.weight.element_size())

    @property
    def draw_bytes(self) -> int:
        """What the weights that the kernels hold of a draw take, by the shares of channels that it keeps."""
        tiles = sum(convolution.tiles_bytes for convolution in self.further)
        return tiles + (0 if self.linear is None else self.linear.draw_bytes)

    @property
    def skipped(self) -> dict[Node, None]:
        """The nodes that nobody reads once that value is known."""
        nodes = [node for each in self.chain for node in (each.dropped.node, each.step.node, *each.nodes)]
        nodes += () if self.linear is None else (self.last.until, *self.linear.between, self.end)
        return dict.fromkeys(nodes[:-1])


@dataclass(frozen=True)
class ByKernels:
    """The convolutions of a plan that the kernels run."""

    first: FirstConvolution | None = None
    shared: Mapping[Node, Convolution] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.first is not None or bool(self.shared)


def find_convolutions(plan: Plan, draws: int, *, consistent: bool) -> ByKernels:
    """Those for which the kernels pay, in blocks that fill their lanes."""
    return ByKernels(_find_first(plan, draws, consistent=consistent), _find_shared(plan))


def _find_first(plan: Plan, draws: int, *, consistent: bool) -> FirstConvolution | None:
    """The convolution behind the first dropout, where it pays to run it for all draws at once.

    With what lies behind it, unless each candidate has masks of its own.
    """
    if draws < MIN_DRAWS:
        return None
    steps = {step.node: step for step in plan.each}
    for drop in plan.each:
        if not drop.cuts or drop.node.all_input_nodes[0] in steps:
            continue
        convolution = _convolution_of(drop, plan, steps)
        if convolution is None:
            continue
        further = tuple(_further(convolution, plan, steps)) if consistent else ()
        if convolution.pays(between=bool(further)):
            linear = find_linear((convolution, *further)[-1], plan) if consistent else None
            return FirstConvolution(convolution, further, linear)
    return None


def _convolution_of(drop: Step, plan: Plan, steps: Mapping[Node, Step]) -> Convolution | None:
    """The convolution that alone reads a dropout of whole channels, if another such dropout follows it."""
    step = steps.get(next(iter(drop.node.users))) if len(drop.node.users) == 1 else None
    if step is None or step.until is None or not is_eligible(step):
        return None
    behind = [other for other in plan.each if other.until is step.until and other is not step]
    return Convolution(step, drop).with_steps(behind)


def _further(convolution: Convolution, plan: Plan, steps: Mapping[Node, Step]) -> Iterator[Convolution]:
    """The convolutions behind one, as long as nothing else lies between."""
    while convolution.end in convolution.until.all_input_nodes:
        behind = _convolution_of(steps[convolution.until], plan, steps)
        if behind is None or not behind.tiles_pay:
            return
        yield behind
        convolution = behind


def _find_shared(plan: Plan) -> dict[Node, Convolution]:
    """Convolutions of images that all draws share, by their nodes, where it pays."""
    found = {}
    steps = {step.node: step for step in plan.once}
    for step in plan.once:
        if not is_eligible(step) or step.module.in_channels > _FEW_CHANNELS:
            continue
        behind, node = [], step.node
        while len(node.users) == 1 and (node := next(iter(node.users))) in steps:
            behind.append(steps[node])
        convolution = Convolution(step).with_steps(behind)
        if convolution.pays():
            found[step.node] = convolution
    return found
