"""BatchBALD of candidates with several labels each."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array, block_size, blocks, concatenated, from_host, to_host, widened
from infoacq.objectives._joint import Joint, empty, extended
from infoacq.outputs import draw_entropies, information_along_paths, joint_labels
from infoacq.pool import Candidates, Pool


class Told(NamedTuple):
    """The joint entropy of all outputs of the chosen candidates, and how many classes each output has."""

    joint: Joint
    classes: tuple[int, ...]


@dataclass(frozen=True)
class MultiOutputBatchBALD:
    """I[y_S; draw] of the batch S whose candidates have several labels each (nats), at most log k.

    Every candidate tells all its labels, which are independent given the draw. For pools of `from_outputs`.

    Args:
        max_configurations: configurations of the chosen candidates' labels that are enumerated, sampled beyond.
        max_labels: joint labels of one candidate that are enumerated. Where outputs have more of them, as many paths
            through its outputs are sampled, on the host, with the same random numbers for every candidate; at least 2,
            as one path has no standard error.
        key: seeds these numbers; `select_batch` draws it from its seed.

    Raises:
        TypeError: if an argument is no whole number.
        ValueError: if one is too small.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), eq. 7, where each label of a candidate is a label of the batch.
    """

    max_configurations: int = 10_000
    max_labels: int = 256
    key: int = 0
    submodular: ClassVar[bool] = True
    outcome: ClassVar[str] = "outputs"

    def __post_init__(self) -> None:
        checks.whole_number(self.max_configurations, "max_configurations", least=2)
        checks.whole_number(self.max_labels, "max_labels", least=2)
        checks.whole_number(self.key, "key", least=0)

    def seeded(self, rng: np.random.Generator) -> "MultiOutputBatchBALD":
        """The objective with a key of this generator."""
        return replace(self, key=int(rng.integers(2**63)))

    def init(self, pool: Pool) -> Told:
        """The joint entropy of no label."""
        _, _, outputs, classes = pool.take(np.zeros(1, dtype=np.int64)).predictions.shape
        return Told(empty(pool), getattr(pool, "classes", (classes,) * outputs))

    def gains(self, state: Told, candidates: Candidates) -> Float[Array, " n"]:
        """I[y_n; draw | y_S] of all labels of each candidate (nats)."""
        labels = math.prod(state.classes)
        if labels > self.max_labels:
            return from_host(self._sampled(state, candidates).mean(axis=1), like=candidates.predictions)
        posteriors, masses = state.joint.configurations.beside
        p = candidates.predictions
        rows = max(1, block_size(p) // (labels * p.shape[1]))
        return concatenated(
            [
                _kernels.information(
                    joint_labels(block, state.classes),
                    draw_entropies(block),
                    posteriors,
                    masses,
                    state.joint.draw_weights,
                )
                for block in blocks(p, rows)
            ]
        )

    def update(self, state: Told, chosen: Candidates, rng: np.random.Generator) -> Told:
        """The joint entropy with every label of the chosen appended."""
        joint = state.joint
        for output, count in enumerate(state.classes):
            joint = extended(joint, chosen.predictions[:, :, output, :count], self.max_configurations, rng)
        return Told(joint, state.classes)

    def standard_errors(self, state: Told, candidates: Candidates) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each gain (nats): 0 while all is enumerated."""
        if math.prod(state.classes) <= self.max_labels:
            # Products of rows that miss one by half precision's rounding miss it by more than that of single precision.
            together = joint_labels(widened(candidates.predictions), state.classes)
            return state.joint.information_error(together, check=False)
        each = self._sampled(state, candidates)
        return from_host(each.std(axis=1) / math.sqrt(each.shape[1]), like=candidates.predictions)

    def limit(self, pool: Pool) -> float:
        """The logarithm of k: all that labels can tell of k draws (nats)."""
        return math.log(pool.take(np.zeros(1, dtype=np.int64)).predictions.shape[1])

    def _sampled(self, state: Told, candidates: Candidates) -> Float[np.ndarray, "n s"]:
        """The information of each candidate along each path (nats)."""
        now, outputs = state.joint.configurations, len(state.classes)
        rng = np.random.default_rng(self.key)
        # One number from each of as many strata, in an order of its own for every output.
        strata = rng.permuted(np.tile(np.arange(self.max_labels), (outputs + 1, 1)), axis=1)
        uniforms = ((strata + rng.random(strata.shape)) / self.max_labels * (1 - 1e-12)).T
        cumulated = now.masses.cumsum()
        paths = now.posteriors[np.searchsorted(cumulated, uniforms[:, 0] * cumulated[-1], side="right")]
        rows = max(1, block_size(candidates.predictions) // paths.size)
        parts = [
            information_along_paths(to_host(block), paths, uniforms[:, 1:])
            for block in blocks(candidates.predictions, rows)
        ]
        return np.concatenate(parts)
