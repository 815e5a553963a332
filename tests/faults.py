"""Faults to put into the core, one at a time, and the tests that should see each (run by tests/mutation.py)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Text of a file that is there once, what to put in its place, and the tests that should then fail."""

    name: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]


KERNELS, ARRAYS, POOL = "infoacq/_kernels.py", "infoacq/_arrays.py", "infoacq/pool.py"
CONFIGURATIONS, SAMPLING, SELECT = "infoacq/configurations.py", "infoacq/sampling.py", "infoacq/select.py"
JOINT = ("tests/test_joint.py",)
VALUE = ("tests/contracts/test_value.py", "-k", "not jax and not strict")
LAZY, PENDING = ("tests/contracts/test_lazy.py",), ("tests/contracts/test_pending.py",)
INVARIANCE, EXTREMES = ("tests/contracts/test_invariance.py",), ("tests/contracts/test_extremes.py",)
SCORES, ARRAY_TRAPS = ("tests/traps/test_06_to_10_scores.py",), ("tests/traps/test_17_to_21_arrays.py",)
SPLIT, STATISTICS = ("tests/test_split.py",), ("tests/test_statistics.py",)
SMALLEST = "with_log_taken(p + float(namespace(p).finfo(p.dtype).smallest_normal))"

FAULTS = [
    Fault("a sign: the expected entropy is added", KERNELS, "masses) - expected", "masses) + expected", VALUE),
    Fault("a missing logarithm", KERNELS, SMALLEST, "(p + 0.0)", ("tests/test_entropy.py",)),
    Fault("logarithms to base 2", ARRAYS, "np.log(x, out=x)", "np.log2(x, out=x)", ("tests/test_entropy.py",)),
    Fault(
        "0 log 0 is NaN", KERNELS, SMALLEST, "with_log_taken(p + 0.0)", ("tests/traps/test_01_to_05_probabilities.py",)
    ),
    Fault("the caller's array is the temporary", KERNELS, SMALLEST, "with_log_taken(p)", ("tests/test_fuzz.py",)),
    Fault(
        "marginals instead of the joint",
        CONFIGURATIONS,
        "normalised(self.posteriors[parents] * probs.T[labels])",
        "self.posteriors[parents]",
        JOINT,
    ),
    Fault(
        "the labels of other configurations",
        "infoacq/joint.py",
        "parents, labels = np.divmod(np.arange(q.size), q.shape[1])",
        "labels, parents = np.divmod(np.arange(q.size), q.shape[0])",
        JOINT,
    ),
    Fault(
        "the prior in place of the sampled configurations",
        CONFIGURATIONS,
        "from_host(self.masses @ self.posteriors, self.like)",
        "from_host(np.full(self.posteriors.shape[1], 1.0 / self.posteriors.shape[1]), self.like)",
        JOINT,
    ),
    Fault(
        "a sample that is not weighted", SAMPLING, "masses[drawn] / weight[drawn] * step", "masses[drawn]", STATISTICS
    ),
    Fault(
        "standard errors too small",
        KERNELS,
        "weight = 0.5 * sampled / (sampled - 1)",
        "weight = 0.5 / (sampled - 1)",
        STATISTICS,
    ),
    Fault(
        "impossible configurations are drawn",
        SAMPLING,
        "np.flatnonzero(masses)",
        "np.arange(len(masses))",
        ("tests/traps/test_01_to_05_probabilities.py",),
    ),
    Fault(
        "a chunk of configurations is one short",
        KERNELS,
        "range(0, posteriors.shape[0], width):",
        "range(0, posteriors.shape[0] - (posteriors.shape[0] > width), width):",
        INVARIANCE,
    ),
    Fault(
        "a block of candidates is one short",
        ARRAYS,
        "step):\n        yield",
        "step):\n        start += start > 0\n        yield",
        INVARIANCE,
    ),
    Fault(
        "positions count from each shard's first",
        POOL,
        "index = np.arange(self.start, self.start + self.predictions.shape[0])",
        "index = np.arange(self.predictions.shape[0])",
        INVARIANCE,
    ),
    Fault(
        "a stale bound wins",
        "infoacq/maximisers/lazy.py",
        "left = _contenders(bounds, left[size:], leader)",
        "left = left[:0]",
        LAZY,
    ),
    Fault(
        "an index is chosen twice",
        "infoacq/maximisers/greedy.py",
        "scored.gains[[pick.candidate for pick in picks]] = -np.inf",
        "scored.gains[[]] = -np.inf",
        EXTREMES,
    ),
    Fault(
        "ties go to the highest index",
        "infoacq/maximisers/scoring.py",
        "np.argmin(scored.index[equal])",
        "np.argmax(scored.index[equal])",
        EXTREMES,
    ),
    Fault(
        "a NaN gain passes",
        "infoacq/checks/objectives.py",
        "np.isnan(values) | (values == np.inf)",
        "values == np.inf",
        EXTREMES,
    ),
    Fault(
        "pending points are not conditioned on",
        "infoacq/conditioned.py",
        "return Conditioned(objective, state, pending)",
        "return Conditioned(objective, objective.init(pool), pending)",
        PENDING,
    ),
    Fault(
        "pending points are returned",
        "infoacq/conditioned.py",
        "ruled_out(gains, excluded) if excluded.any() else gains",
        "gains",
        PENDING,
    ),
    Fault("the seed is ignored", SELECT, "np.random.default_rng(child) for", "np.random.default_rng() for", INVARIANCE),
    Fault("scores pass log K", SELECT, "gains.append(min(gain, limit - worth - total))", "gains.append(gain)", SCORES),
    Fault("pending points do not saturate", "infoacq/selection.py", "self.conditioned + s >=", "s >=", PENDING),
    Fault(
        "rows that do not sum to one pass",
        "infoacq/checks/predictions.py",
        "= SUM_TOLERANCE[dtype_name(p)]",
        "= 9.0",
        ("tests/checks",),
    ),
    Fault("half precision is computed in half precision", ARRAYS, ".bits < 32 else x", ".bits < 0 else x", VALUE),
    Fault("results carry a gradient graph", ARRAYS, "x.detach() if is_torch_array(x) else x", "x", ARRAY_TRAPS),
    Fault(
        "held-out points are in the pool",
        "infoacq/split.py",
        "free[self.labelled] = free[self.held_out] = False",
        "free[self.labelled] = False",
        SPLIT,
    ),
    Fault(
        "labelled points lose their order",
        "infoacq/split.py",
        "[self.labelled, self.indices(positions)]",
        "[self.labelled, np.sort(self.indices(positions))]",
        SPLIT,
    ),
    Fault(
        "masks are redrawn for each batch",
        "infoacq/posteriors/_masks.py",
        "np.random.SeedSequence(self.seed, spawn_key=key)",
        "np.random.SeedSequence()",
        ("tests/posteriors/test_trap_22_consistent.py",),
    ),
    Fault(
        "rounding decides between equal gains",
        "infoacq/maximisers/scoring.py",
        "return scored.resolution * max(scored.magnitude, abs(largest)) if np.isfinite(largest) else 0.0",
        "return 0.0",
        ("tests/test_ties.py",),
    ),
    Fault(
        "candidates are ranked by gain times cost",
        "infoacq/wrappers/cost_aware.py",
        "to_host(self.objective.gains(state, candidates)) / self._relative",
        "to_host(self.objective.gains(state, candidates)) * self._relative",
        ("tests/contracts/test_wrapped.py",),
    ),
    Fault(
        "what is chosen is not paid",
        "infoacq/wrappers/constraints.py",
        "return spent + float(self._costs[index].sum())",
        "return spent",
        ("tests/contracts/test_wrapped.py",),
    ),
    Fault(
        "an observation shrinks a Gaussian posterior too much",
        "infoacq/gaussian.py",
        "math.sqrt(noise_variance * total)",
        "noise_variance",
        ("tests/contracts/test_other_pools.py", "-k", "not jax and not strict"),
    ),
]
