"""A convolution as the kernels run it: what they do behind it, and whether that pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.fx import Node

from infoacq.posteriors._ops import Kind, Sides, pair
from infoacq.posteriors._plan import Step
from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._seen import pooling
from infoacq.posteriors._winograd_kernel import SPREAD, TILE

Margins = tuple[int, int, int, int]  # left, right, above and below
NO_MARGINS: Margins = (0, 0, 0, 0)
_MIN_PLACES = 16  # of the kernel for each number that is handed on; fewer cost more memory traffic than they save work
_MIN_PLACES_BETWEEN = 9  # where a kernel reads that number while it is near
_PLANES_BYTES = 2 * 2**20  # what the input may take there: more is read too slowly for what it saves
_MOST_IN_TILES = 0.7  # of the products of a convolution as it is written
_CACHE_BYTES = 256 * 2**10  # what the addends of a window may take
_RELUS = (F.relu, torch.relu, "relu", "relu_")


@dataclass(frozen=True)
class Convolution:
    """A convolution and the steps behind it that are done at once: the largest of each window, and zero at least."""

    step: Step
    drop: Step | None = None  # the dropout of whole channels that it alone reads, where draws differ
    window: tuple[int, int] = (1, 1)
    relu: bool = False
    nodes: tuple[Node, ...] = ()  # of the steps behind it

    @property
    def dropped(self) -> Step:
        """The dropout that it reads, where there is one."""
        assert self.drop is not None
        return self.drop

    @property
    def until(self) -> Node:
        """The dropout that follows, where there is one."""
        assert self.step.until is not None
        return self.step.until

    @property
    def end(self) -> Node:
        """The node whose value is found."""
        return (self.step.node, *self.nodes)[-1]

    @property
    def sides(self) -> Sides:
        """Of the convolution's output, as much of it as is looked at."""
        high, wide = self.step.node.meta["shape"][2:]
        seen = self.step.seen or (high, wide)  # which may be more than there is
        return min(high, seen[0]), min(wide, seen[1])

    @property
    def handed_on(self) -> Sides:
        """The sides of the value at `end`."""
        return self.sides[0] // self.window[0], self.sides[1] // self.window[1]

    @property
    def margins(self) -> Margins:
        """How many zeros are put beside the input."""
        above, below = self._margin(0)
        left, right = self._margin(1)
        return left, right, above, below

    def _margin(self, side: int) -> tuple[int, int]:
        module = self.step.module
        if module.padding == "same":
            both = module.dilation[side] * (module.kernel_size[side] - 1)
            return both // 2, both - both // 2
        margin = 0 if module.padding == "valid" else module.padding[side]
        return margin, margin

    @property
    def row_bytes(self) -> int:
        """What the value at `end` takes for one candidate."""
        return int(self.step.module.out_channels * prod(self.handed_on) * self.step.module.weight.element_size())

    def with_steps(self, steps: Sequence[Step]) -> Convolution:
        """With as many of the steps that follow as the kernel knows."""
        convolution = self
        for step in steps:
            more = convolution._with_step(step) if step.kind is Kind.CHANNELWISE else None
            if more is None:
                break
            convolution = replace(more, nodes=(*convolution.nodes, step.node))
        return convolution

    def _with_step(self, step: Step) -> Convolution | None:
        if type(step.module) is nn.Identity:
            return self
        if type(step.module) is nn.ReLU or (step.module is None and step.node.target in _RELUS):
            return replace(self, relu=True)
        window = _window(step) if self.window == (1, 1) else None
        return None if window is None else replace(self, window=window)

    @property
    def planes_bytes(self) -> int:
        """What a group's input takes, as much of it as is read, but for margins at its sides."""
        module = self.step.module
        high = (self.sides[0] - 1) * module.stride[0] + module.dilation[0] * (module.kernel_size[0] - 1) + 1
        wide = (self.sides[1] - 1) * module.stride[1] + module.dilation[1] * (module.kernel_size[1] - 1) + 1
        return int(module.in_channels * high * wide * LANES * module.weight.element_size())

    def pays(self, *, between: bool = False) -> bool:
        """Whether addends save work, and stay near the processor."""
        module = self.step.module
        places = prod(module.kernel_size) * prod(self.window)
        addends = module.in_channels * self.window[0] * self.sides[1] * LANES * module.weight.element_size()
        enough = places >= _MIN_PLACES or (
            between and places >= _MIN_PLACES_BETWEEN and self.planes_bytes <= _PLANES_BYTES
        )
        return enough and bool(addends <= _CACHE_BYTES)

    @property
    def tiles_bytes(self) -> int:
        """What its weights for tiles take, of a draw that keeps so much of the input and all of the output."""
        kept = 1.0 if self.drop is None else 1.0 - self.drop.module.p
        weight = self.step.module.weight
        return int(SPREAD**2 * prod(weight.shape[:2]) * weight.element_size() * kept)

    @property
    def tiles_pay(self) -> bool:
        """Whether it can be done in tiles, and whole tiles are less work than what is looked at."""
        module = self.step.module
        fits = (module.kernel_size, module.stride, module.dilation) == ((3, 3), (1, 1), (1, 1))
        whole = prod(-(-side // TILE) for side in self.sides) * SPREAD**2
        cut_windows = any(TILE % side for side in self.window)
        return fits and not cut_windows and whole <= _MOST_IN_TILES * 9 * prod(self.sides)


def is_eligible(step: Step) -> bool:
    """Whether the kernels know this kind of convolution."""
    module = step.module
    if step.kind is not Kind.CONVOLVE or type(module) is not nn.Conv2d:
        return False
    return bool(
        module.padding_mode == "zeros"
        and module.weight.device.type == "cpu"
        and module.weight.dtype in (torch.float32, torch.float64)
    )


def _window(step: Step) -> tuple[int, int] | None:
    """The windows of a pooling by maxima, if they lie edge to edge from the first row and column on."""
    given = pooling(step.node, step.module) if _is_of_maxima(step) else None
    if given is None or given["ceil_mode"]:
        return None
    window = pair(given["kernel_size"])
    edge_to_edge = pair(given["stride"]) == window and pair(given["padding"]) == (0, 0)
    return window if edge_to_edge and pair(given["dilation"]) == (1, 1) else None


def _is_of_maxima(step: Step) -> bool:
    return type(step.module) is nn.MaxPool2d or step.node.target is F.max_pool2d
