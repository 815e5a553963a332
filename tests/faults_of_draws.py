"""Faults to put into how a model is run under its draws (run by tests/mutation.py)."""

from tests.faults import Fault

SUBNETWORK, CHUNKS, SEEN = (f"infoacq/posteriors/_{room}.py" for room in ("subnetwork", "chunks", "seen"))
PLANES, LAYERS, OWN = (f"infoacq/posteriors/_{room}.py" for room in ("planes", "layers", "own_masks"))
ADDENDS, TILES, VECTORS = (f"infoacq/posteriors/_{room}.py" for room in ("planes_kernel", "winograd_kernel", "vectors"))
WEIGHED = "infoacq/posteriors/_linear_kernel.py"
CASES, LIMITS = "tests/posteriors/test_plan_cases.py", "tests/posteriors/test_kernel_limits.py"

FAULTS_OF_DRAWS = [
    Fault(
        "a draw keeps what it drops",
        SUBNETWORK,
        "kept = self.mask(node, node.meta[",
        "kept = ~self.mask(node, node.meta[",
        (CASES, "-k", "apart"),
    ),
    Fault(
        "a sub-network is not scaled",
        SUBNETWORK,
        "return Part(x.tensor.index_select(1, kept), x.width, kept, x.scale / (1.0 - module.p))",
        "return Part(x.tensor.index_select(1, kept), x.width, kept, x.scale)",
        (CASES, "-k", "apart"),
    ),
    Fault(
        "what is no number is left out with its channel",
        CHUNKS,
        "whole = not all(",
        "whole = False and not all(",
        (CASES, "-k", "no_number"),
    ),
    Fault(
        "blocks are cut though candidates look at each other",
        CHUNKS,
        "self.consistent and self.plan.keeps_candidates_apart",
        "self.consistent",
        (LIMITS, "-k", "blocks_are_whole"),
    ),
    Fault(
        "a row that is looked at is left out",
        SEEN,
        "spread * (size - 1) + 1\n",
        "spread * (size - 1)\n",
        ("tests/posteriors/test_seen.py",),
    ),
    Fault(
        "kernels do not scale what is kept",
        LAYERS,
        "float(1.0 / (1.0 - layer.drop.module.p))",
        "1.0",
        ("tests/posteriors/test_planes.py", "-k", "at_once"),
    ),
    Fault(
        "two output channels have the weights of the first",
        ADDENDS,
        "other = channels * taps * min(1, len(layer.weight) - 1 - pair)",
        "other = 0",
        ("tests/posteriors/test_planes.py", "-k", "at_once"),
    ),
    Fault(
        "candidates that fill no vector are left out",
        ADDENDS,
        "for lane in range(in_vectors, lanes)",
        "for lane in range(lanes, lanes)",
        ("tests/posteriors/test_planes.py", "-k", "at_once"),
    ),
    Fault(
        "a tile's last row lacks a share",
        TILES,
        "near + 8 * far + x5",
        "near + 8 * far",
        ("tests/posteriors/test_winograd.py", "-k", "emnist"),
    ),
    Fault(
        "the smaller of two vectors is taken",
        VECTORS,
        'fcmp_ordered(">", *given)',
        'fcmp_ordered("<", *given)',
        ("tests/posteriors/test_vectors.py",),
    ),
    Fault(
        "the last outputs of a linear layer are written over the next draw's",
        WEIGHED,
        " if o < len(out) else 0",
        "",
        ("tests/posteriors/test_linear_layer.py", "-k", "numpy"),
    ),
    Fault(
        "a linear layer is not scaled",
        LAYERS,
        "(weight * scale(linear))",
        "weight",
        ("tests/posteriors/test_linear_layer.py", "-k", "behind"),
    ),
    Fault(
        "what something else reads is not there",
        "infoacq/posteriors/_linear_layer.py",
        "if alone and _fits",
        "if _fits",
        ("tests/posteriors/test_linear_layer.py", "-k", "alone"),
    ),
    Fault(
        "a number says that it is a tensor",
        "infoacq/posteriors/_tracer.py",
        ' and not given.node.meta["number"]',
        "",
        ("tests/posteriors/test_tracer.py", "-k", "look_for"),
    ),
    Fault(
        "two models are traced at once",
        "infoacq/posteriors/_tracer.py",
        "with _alone, _told",
        "with _told",
        ("tests/posteriors/test_tracer.py", "-k", "threads"),
    ),
    Fault(
        "digits are lost with channels last",
        "infoacq/posteriors/_trace.py",
        "isinstance(module, nn.GroupNorm) or ",
        "",
        ("tests/posteriors/test_lopsided.py", "-k", "nearly"),
    ),
    Fault(
        "a margin holds what was there before",
        "infoacq/posteriors/_layouts.py",
        "room.zero_() if framed else room",
        "room",
        ("tests/posteriors/test_winograd.py",),
    ),
    Fault(
        "tiles round away what lies beside a large number behind the first convolution",
        PLANES,
        "if is_lopsided(",
        "if False and is_lopsided(",
        ("tests/posteriors/test_lopsided.py",),
    ),
    Fault(
        "sums leave the numbers between transforms",
        "infoacq/posteriors/_suited.py",
        "most * (GROWTH if place else 1)",
        "most",
        (LIMITS, "-k", "overflow"),
    ),
    Fault(
        "a method put on an instance is passed over",
        "infoacq/posteriors/_ops.py",
        "return any(callable(getattr(type(module), name, None)) for name in vars(module))",
        "return False",
        (LIMITS, "-k", "own"),
    ),
    Fault(
        "all candidates have the first ones' masks",
        OWN,
        "_kept(keeps[:, start : start + LANES], planes.dtype)",
        "_kept(keeps[:, : len(x[start : start + LANES])], planes.dtype)",
        ("tests/posteriors/test_own_masks.py", "-k", "batches"),
    ),
    Fault(
        "a compiler follows the hooks",
        "infoacq/posteriors/_compiled.py",
        'self._stance.enter_context(torch.compiler.set_stance("force_eager"))',
        "pass",
        ("tests/posteriors/test_compiled.py",),
    ),
    Fault(
        "a file says that it holds all that was read",
        "infoacq/posteriors/_inputs.py",
        "self._add(block[:rows])",
        "self._add(block)",
        ("tests/posteriors/test_killed_while_writing.py", "-k", "goes_on"),
    ),
    Fault(
        "a batch is kept by reference until it is read",
        "infoacq/posteriors/_inputs.py",
        "for batch in map(torch.clone, batches):",
        "for batch in batches:",
        ("tests/posteriors/test_killed_while_writing.py", "-k", "again"),
    ),
]
