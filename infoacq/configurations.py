"""Configurations: joint labellings of the chosen points, each with a mass and a posterior over the draws.

Posteriors are kept instead of joint probabilities: rows that sum to one do not underflow, however long the batch, and
appending a point is Bayes' rule on them, for which no earlier prediction is needed again. They are kept on the host in
float64, so that every backend draws the same configurations; what scores the pool is a copy beside the predictions.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks
from infoacq._arrays import Array, contract, detached, from_host, namespace


@dataclass(frozen=True)
class Configurations:
    """Configurations of the chosen points: `posteriors` are p(draw | configuration), `masses` p(configuration).

    `like` is any array of the maker, device and dtype in which candidates are scored.
    """

    posteriors: Float[np.ndarray, "m k"]
    masses: Float[np.ndarray, " m"]
    like: Float[Array, " 1"]

    def __len__(self) -> int:
        return len(self.masses)

    @cached_property
    def beside(self) -> tuple[Float[Array, "m k"], Float[Array, " m"]]:
        """Posteriors and masses where the candidates are scored."""
        return from_host(self.posteriors, self.like), from_host(self.masses, self.like)

    @cached_property
    def draw_weights(self) -> Float[Array, " k"]:
        """p(draw) over the configurations: uniform but for sampling noise."""
        return from_host(self.masses @ self.posteriors, self.like)

    def predictive(self, probs: Float[np.ndarray, "k c"]) -> Float[np.ndarray, "m c"]:
        """p(y = c | configuration m) of one more point: rows sum to one, or are 0 for an impossible configuration."""
        return normalised(contract("m k, k c -> m c", self.posteriors, probs))

    def checked(self, probs: Array, axes: str = "n k c") -> Array:
        """`probs`, known to be predictions under the same draws, in the place and dtype of `like`."""
        p = detached(checks.probabilities(probs, axes))
        checks.same_place(p, self.like, "predictions", "the joint entropy")
        checks.draws(p.shape[axes.split().index("k")], self.posteriors.shape[1])
        return namespace(p).astype(p, self.like.dtype, copy=False)

    def conditional_entropy(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """H[y_n | configuration] of each candidate (nats)."""
        return _kernels.conditional_entropies(self.checked(probs), *self.beside)


def normalised(joint: Float[np.ndarray, "*batch k"]) -> Float[np.ndarray, "*batch k"]:
    """Rows divided by their sum. A row of zeros is a configuration of mass 0 and stays one."""
    total = joint.sum(axis=-1, keepdims=True)
    return joint / np.where(total > 0, total, 1.0)


def stratified(masses: Float[np.ndarray, " m"], count: int, rng: np.random.Generator) -> Int[np.ndarray, " count"]:
    """`count` positions drawn by mass, one from each of `count` equal strata of the cumulated masses."""
    cumulated = np.cumsum(masses)
    points = (np.arange(count) + rng.random(count)) * (cumulated[-1] / count)
    # A position of mass 0 is never drawn; rounding may put the last point at the very end.
    last = int(np.searchsorted(cumulated, cumulated[-1]))
    drawn: np.ndarray = np.minimum(np.searchsorted(cumulated, points, side="right"), last)
    return drawn
