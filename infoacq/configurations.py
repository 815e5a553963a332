"""Configurations: joint labellings of the chosen points, each with a mass and a posterior over the draws.

Posteriors are kept instead of joint probabilities: rows that sum to one do not underflow, however long the batch, and
appending a point is Bayes' rule on them, for which no earlier prediction is needed again. They are kept on the host in
float64, so that every backend draws the same configurations; what scores the pool is a copy beside the predictions.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks
from infoacq._arrays import Array, contract, detached, from_host, namespace
from infoacq.sampling import impurity, thinned

# Information below this many nats is rounding: noise is not measured against it.
SMALLEST = 1e-9


@dataclass(frozen=True)
class Configurations:
    """Configurations of the chosen points: `posteriors` are p(draw | configuration), `masses` p(configuration).

    `like` is any array of the maker, device and dtype in which candidates are scored. The first `settled`
    configurations carry their own mass; the rest are a sample, in the order in which it was drawn.
    """

    posteriors: Float[np.ndarray, "m k"]
    masses: Float[np.ndarray, " m"]
    like: Float[Array, " 1"]
    settled: int = 0

    def __len__(self) -> int:
        return len(self.masses)

    @cached_property
    def beside(self) -> tuple[Float[Array, "m k"], Float[Array, " m"]]:
        """Posteriors and masses where the candidates are scored."""
        return from_host(self.posteriors, self.like), from_host(self.masses, self.like)

    @cached_property
    def step_weights(self) -> Float[Array, " steps"]:
        """What `information_differences` needs to know of the sampling, where the candidates are scored."""
        return from_host(_kernels.systematic_steps(len(self), self.settled), self.like)

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

    def labelled(
        self,
        probs: Float[np.ndarray, "k c"],
        parents: Int[np.ndarray, " m"],
        labels: Int[np.ndarray, " m"],
        masses: Float[np.ndarray, " m"],
        settled: int,
    ) -> "Configurations":
        """Configurations `parents` with the label of one more point appended: Bayes' rule on the posteriors."""
        return Configurations(normalised(self.posteriors[parents] * probs.T[labels]), masses, self.like, settled)

    def thinned(self, count: int, rng: np.random.Generator) -> "Configurations":
        """At most `count` configurations in place of these."""
        kept = thinned(self.masses, impurity(self.posteriors), count, rng)
        return Configurations(self.posteriors[kept.positions], kept.masses, self.like, kept.settled)

    def sampling_variance(self, each: Float[np.ndarray, "n m"]) -> Float[np.ndarray, " n"]:
        """The variance that the latest sampling gave to each Σ_m masses_m each_nm."""
        steps = _kernels.systematic_steps(len(self), self.settled)
        variance: np.ndarray = _kernels.systematic_variances(each * self.masses, steps)
        return variance

    def relative_variance(self, each: Float[np.ndarray, "1 m"]) -> float:
        """The variance that the latest sampling gave to Σ_m masses_m each_m, relative to that; 0 of nothing."""
        total = float((each @ self.masses)[0])
        return float(self.sampling_variance(each)[0]) / total if total > SMALLEST else 0.0

    @property
    def remaining(self) -> float:
        """Σ_m masses_m H[draw | configuration m], what is still to be told of the draws (nats)."""
        return float(self.masses @ _kernels.row_entropies(self.posteriors))

    def __getstate__(self) -> dict[str, Any]:
        """Without the copies, which are made again where they are needed."""
        return {name: self.__dict__[name] for name in ("posteriors", "masses", "like", "settled")}


def normalised(joint: Float[np.ndarray, "*batch k"]) -> Float[np.ndarray, "*batch k"]:
    """Rows divided by their sum. A row of zeros is a configuration of mass 0 and stays one."""
    total = joint.sum(axis=-1, keepdims=True)
    return joint / np.where(total > 0, total, 1.0)
