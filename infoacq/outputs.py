"""Candidates with several labels each: multi-label, several heads, sites of a segmentation map.

The labels of one candidate are independent given the draw. Predictions are (n, k, l, c) = (candidates, draws, outputs,
classes); an output of fewer classes than the others has probability 0 for those that it lacks: no entropy changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks
from infoacq._arrays import Array, detached, namespace, zeros
from infoacq.configurations import normalised
from infoacq.pool import ArrayPool, Candidates, Shard


@dataclass(frozen=True)
class OutputsPool:
    """A pool of candidates with `len(classes)` labels each, the l-th of `classes[l]` classes."""

    pool: ArrayPool
    classes: tuple[int, ...]
    outcome: ClassVar[str] = "outputs"

    def __len__(self) -> int:
        return len(self.pool)

    def shards(self) -> Sequence[Shard]:
        """Views of consecutive candidates."""
        return self.pool.shards()

    def take(self, index: Int[np.ndarray, " n"]) -> Candidates:
        """The candidates at these positions, copied."""
        return self.pool.take(index)

    def with_shards_of(self, shard_size: int) -> "OutputsPool":
        """The same pool, read in shards of another size.

        Raises:
            TypeError: if `shard_size` is no whole number.
            ValueError: if it is below 1.
        """
        return replace(self, pool=self.pool.with_shards_of(shard_size))


def from_outputs(outputs: Sequence[Float[Array, "n k _"]]) -> OutputsPool:
    """A pool from p(y_nl = c | draw k) of each output l: one array (n, k, classes) an output, classes may differ.

    Raises:
        TypeError: if they are not several, or one is no floating-point array of NumPy, PyTorch or JAX.
        ValueError: if there is none, one has another shape or place, or a row does not sum to one.
    """
    checks.several(outputs, "outputs", "[probs_of_colour, probs_of_shape]")
    checks.whole_number(len(outputs), "the number of outputs")
    probs = [detached(checks.probabilities(p, name=f"outputs[{i}]")) for i, p in enumerate(outputs)]
    for i, p in enumerate(probs):
        checks.same_place(p, probs[0], f"outputs[{i}]", "outputs[0]")
        checks.alike(tuple(p.shape[:2]), tuple(probs[0].shape[:2]), f"outputs[{i}]", "outputs[0]")
    classes = tuple(int(p.shape[2]) for p in probs)
    padded = [_padded(p, max(classes)) for p in probs]
    return OutputsPool(ArrayPool(namespace(probs[0]).stack(padded, axis=2)), classes)


def _padded(p: Float[Array, "n k _"], classes: int) -> Float[Array, "n k c"]:
    """`p` with classes of probability 0 added."""
    xp, missing = namespace(p), classes - p.shape[2]
    return xp.concat([p, zeros((*p.shape[:2], missing), like=p)], axis=2) if missing else p


def joint_labels(p: Float[Array, "n k l c"], classes: Sequence[int]) -> Float[Array, "n k joint"]:
    """p(joint label | draw) of each candidate, for every combination of its outputs' classes."""
    xp, joint = namespace(p), p[:, :, 0, : classes[0]]
    for output, count in enumerate(classes[1:], start=1):
        pairs = joint[:, :, :, None] * p[:, :, output, None, :count]
        joint = xp.reshape(pairs, (*p.shape[:2], -1))
    return joint


def draw_entropies(p: Float[Array, "n k l c"]) -> Float[Array, "n k"]:
    """H of all outputs under each draw, Σ_l H[y_nl | draw k] (nats)."""
    return namespace(p).sum(_kernels.row_entropies(p), axis=2)


def information_along_paths(
    p: Float[np.ndarray, "n k l c"], posteriors: Float[np.ndarray, "s k"], uniforms: Float[np.ndarray, "s l"]
) -> Float[np.ndarray, "n s"]:
    """I[y_n; draw] of each candidate by the chain rule along sampled labels of its outputs (nats).

    Path s starts from the posterior over the draws `posteriors[s]`. At each output the information is summed over the
    classes, and then a label is drawn for the path with `uniforms[s, l]` below 1, the same numbers for every candidate:
    so its estimate does not depend on the others.
    """
    weights = np.repeat(posteriors[None], len(p), axis=0)
    total = np.zeros(weights.shape[:2])
    for output in range(p.shape[2]):
        q = p[:, :, output, :]
        predicted = weights @ q
        total += _kernels.row_entropies(predicted) - np.einsum("n s k, n k -> n s", weights, _kernels.row_entropies(q))
        cumulated = predicted.cumsum(axis=2)
        labels = (uniforms[None, :, output, None] * cumulated[:, :, -1:] >= cumulated).sum(axis=2)
        likelihood = np.take_along_axis(q, labels[:, None, :], axis=2)
        weights = normalised(weights * likelihood.transpose(0, 2, 1))
    return np.clip(total, 0.0, None)
