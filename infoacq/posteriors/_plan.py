"""What of a model has to run for each draw, and which channels of it a draw needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.fx import Graph, Node

from infoacq.posteriors._dropout import DropoutLayer, is_alpha, mask_shape
from infoacq.posteriors._ops import Kind, Sides, Traits, has_methods_of_its_own, kind, traits
from infoacq.posteriors._seen import seen_sides
from infoacq.posteriors._trace import FROM_OUTSIDE, NotUnderstoodError, module_of, trace

Modules = Mapping[Node, Any]  # by node that calls one


@dataclass(frozen=True)
class Step:
    """A node, and what is known of it."""

    node: Node
    module: Any  # of the class that `kind` and `traits` speak of, or None
    kind: Kind
    traits: Traits | None  # where the kind is CHANNELWISE
    cuts: bool  # a dropout node that leaves whole channels as they are or makes them zero
    until: Node | None  # the dropout node that cuts the output, if nothing else reads it before
    seen: Sides | None  # the rows and columns of the output of a layer of images that somebody looks at


@dataclass(frozen=True)
class Plan:
    """The nodes of a forward pass, cut where the draws begin to differ."""

    modules: Modules
    once: tuple[Step, ...]  # the same for all draws, in order
    carried: tuple[Node, ...]  # of these nodes, what the draws read
    each: tuple[Step, ...]  # different for each draw, in order
    output: Node

    @property
    def cut_first(self) -> tuple[Node, ...]:
        """What all draws share and each cuts to the channels that it keeps."""
        sources = {step.node.all_input_nodes[0] for step in self.each if step.cuts}
        return tuple(node for node in self.carried if node in sources)

    @property
    def in_full(self) -> tuple[Node, ...]:
        """What is not understood well enough to leave out channels: each draw runs it on all of them."""
        return tuple(s.node for s in self.each if s.kind is Kind.OTHER and "shape" in s.node.meta)

    @property
    def is_reentrant(self) -> bool:
        """Whether two draws may run at once: all steps are PyTorch's own, none a module that may keep a state."""
        return all(_is_pytorchs(step) for step in self.each)

    @property
    def keeps_candidates_apart(self) -> bool:
        """Whether each candidate is known to be scored by itself, whatever others are in its block."""
        steps = [step for step in (*self.once, *self.each) if step.node.op not in FROM_OUTSIDE]
        by_the_batch = [s for s in steps if s.kind is Kind.NORMALISE and s.module.running_mean is None]
        batches = {step.node.meta["shape"][:1] for step in steps if "shape" in step.node.meta}  # one, if none is mixed
        return not by_the_batch and len(batches) <= 1 and all(step.kind is not Kind.OTHER for step in steps)


def make_plan(model: nn.Module, layers: Mapping[str, DropoutLayer], sample: Tensor, *, deep: bool) -> Plan:
    """Take a model in evaluation mode apart.

    Raises:
        NotUnderstoodError: it cannot be done safely.
        Exception: whatever torch.fx or the model raise when they are traced.
    """
    graph = trace(model, layers, sample, deep=deep)
    modules = {node: module for node in graph.nodes if (module := module_of(node, model)) is not None}
    _delay_dropout(graph, modules)
    drawn = _drawn(graph)
    *nodes, output = graph.nodes
    each = [node for node in nodes if node in drawn]
    once = [node for node in nodes if node not in drawn]
    for node in each:
        if "site" not in node.meta and not drawn.issuperset(node.meta.get("changes", ())):
            raise NotUnderstoodError("a tensor that all draws share is changed in place")
    carried = [node for node in once if any(user in drawn or user is output for user in node.users)]
    return Plan(modules, _steps(once, modules), tuple(carried), _steps(each, modules), output)


def _delay_dropout(graph: Graph, modules: Modules) -> None:
    """Move dropout behind what it commutes with: that runs once for all draws, or at least before the next cut."""
    for node in [node for node in graph.nodes if "site" in node.meta]:
        while (user := _commuting_user(node, modules)) is not None:
            before = node.all_input_nodes[0]
            user.replace_input_with(node, before)
            user.replace_all_uses_with(node)
            node.replace_input_with(before, user)
            user.append(node)
            node.meta["shape"] = user.meta["shape"]


def _commuting_user(node: Node, modules: Modules) -> Node | None:
    user = _only_user(node)
    known = traits(user, modules.get(user)) if user is not None else None
    if user is None or known is None or not known.scales or is_alpha(modules[node]):
        return None
    before, behind = (mask_shape(modules[node], inner.meta["shape"]) for inner in (node, user))
    return user if before == behind and (known.elementwise or _cuts(node, modules)) else None


def _drawn(graph: Graph) -> set[Node]:
    """The nodes that depend on a dropout node."""
    drawn: set[Node] = set()
    for node in graph.nodes:
        if node.op != "output" and ("site" in node.meta or any(inner in drawn for inner in node.all_input_nodes)):
            drawn.add(node)
    return drawn


def _steps(nodes: list[Node], modules: Modules) -> tuple[Step, ...]:
    kinds = {node: kind(node, modules.get(node)) for node in nodes}
    until = _needed_by(kinds, modules)
    cutting = [node for node in nodes if _cuts(node, modules)]
    seen = seen_sides(nodes, modules, cutting)
    return tuple(
        Step(node, module, kinds[node], traits(node, module), node in cutting, until.get(node), seen.get(node))
        for node in nodes
        for module in (modules.get(node),)
    )


def _needed_by(kinds: Mapping[Node, Kind], modules: Modules) -> dict[Node, Node]:
    """For layers and what follows them on the way to a dropout node that cuts channels: that node."""
    needed: dict[Node, Node] = {}
    for layer in kinds:
        if kinds[layer] not in (Kind.LINEAR, Kind.CONVOLVE):
            continue
        chain = [layer]
        while (user := _only_user(chain[-1])) is not None and kinds.get(user) in (Kind.CHANNELWISE, Kind.NORMALISE):
            chain.append(user)
        if user is not None and _cuts(user, modules):
            needed |= dict.fromkeys(chain, user)
    return needed


def _cuts(node: Node, modules: Modules) -> bool:
    shape = node.meta.get("shape", ())
    if "site" not in node.meta or is_alpha(modules[node]) or modules[node].p >= 1.0 or len(shape) < 2:
        return False
    return all(size == 1 for size in mask_shape(modules[node], shape)[2:])


def _is_pytorchs(step: Step) -> bool:
    if step.node.op == "call_method":
        return True
    owner = type(step.module) if step.module is not None else step.node.target
    plain = step.module is None or not has_methods_of_its_own(step.module)
    name = getattr(owner, "__module__", None) or ""
    return plain and name.partition(".")[0] in ("torch", "_operator", "builtins", "math")


def _only_user(node: Node) -> Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None
