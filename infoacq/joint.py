"""Joint entropies of the chosen points, exact and sampled, that grow by one point at a time."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array, from_host, namespace, rearrange, to_host
from infoacq.configurations import Configurations, normalised, stratified


@dataclass(frozen=True)
class ExactJointEntropy:
    """H[y_S] of the chosen points by enumeration of every configuration (nats).

    The entropy is the chain-rule sum of what each point added.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), eq. 12 and appendix B, with posteriors for joint probabilities.
    """

    configurations: Configurations
    entropy: float

    @classmethod
    def empty(cls, draws: int, like: Array) -> "ExactJointEntropy":
        """The joint entropy of no point, 0 nats: one configuration, under which every draw is as probable.

        `like` is an array of the maker, device and dtype of the predictions to come.

        Raises:
            TypeError: if `draws` is no whole number, or `like` no floating-point array.
            ValueError: if `draws` is below 1.
        """
        draws = checks.whole_number(draws, "draws")
        one = from_host(np.ones(1), like=checks.floating_array(like, "like"))
        return cls(Configurations(np.full((1, draws), 1.0 / draws), np.ones(1), one), 0.0)

    @property
    def draw_weights(self) -> Float[Array, " k"]:
        """p(draw), uniform: what the expected entropy is to be taken under."""
        return self.configurations.draw_weights

    def conditional_entropy(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """H[y_n | y_S] of each candidate (nats).

        Raises:
            TypeError: if `probs` is no floating-point array.
            ValueError: if `probs` are not probabilities (n, k, c) under the same draws.
        """
        return self.configurations.conditional_entropy(probs)

    def information_error(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """The standard error of each candidate's information (nats): 0, nothing is sampled."""
        return from_host(np.zeros(probs.shape[0]), like=probs)

    def append(self, probs: Float[Array, "k c"]) -> "ExactJointEntropy":
        """The joint entropy with one more point; its number of classes may differ from the others'.

        Raises:
            TypeError: if `probs` is no floating-point array.
            ValueError: if `probs` are not probabilities (k, c) under the same draws.
        """
        now = self.configurations
        p = to_host(now.checked(probs, "k c"))
        q = now.predictive(p)
        posteriors = normalised(now.posteriors[:, None, :] * p.T[None, :, :])
        masses = now.masses[:, None] * q
        grown = Configurations(rearrange(posteriors, "m c k -> (m c) k"), rearrange(masses, "m c -> (m c)"), now.like)
        return ExactJointEntropy(grown, self.entropy + float(now.masses @ _kernels.entropies(q)))

    def sampled(self, num_configurations: int, rng: np.random.Generator) -> "SampledJointEntropy":
        """The same joint entropy on `num_configurations` configurations drawn by their mass.

        Raises:
            TypeError: if `num_configurations` is no whole number.
            ValueError: if it is below 1.
        """
        now, count = self.configurations, checks.whole_number(num_configurations, "num_configurations")
        posteriors = now.posteriors[stratified(now.masses, count, rng)]
        drawn = Configurations(posteriors, np.full(count, 1.0 / count), now.like)
        return SampledJointEntropy(drawn, self.entropy, np.zeros(count))


@dataclass(frozen=True)
class SampledJointEntropy:
    """An estimate of H[y_S] of the chosen points on configurations drawn from their joint distribution (nats).

    `along` is what each configuration's own points added to the estimate, for its error.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), § 3.3.2 and appendix C. The labels of the last point are summed over
    and not drawn, so what a point adds is the mean of exact conditional entropies.
    """

    configurations: Configurations
    entropy: float
    along: Float[np.ndarray, " m"]

    @property
    def standard_error(self) -> float:
        """The Monte-Carlo standard error of `entropy` (nats), as if configurations were drawn independently.

        They are drawn from strata, which can only make the error smaller.
        """
        return float(self.along.std() / math.sqrt(len(self.along)))

    @property
    def draw_weights(self) -> Float[Array, " k"]:
        """p(draw) over the sampled configurations: what the expected entropy is to be taken under.

        Under these and not uniform weights, noise that is common to both entropies of a gain cancels.
        """
        return self.configurations.draw_weights

    def conditional_entropy(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """An estimate of H[y_n | y_S] of each candidate (nats).

        Raises:
            TypeError: if `probs` is no floating-point array.
            ValueError: if `probs` are not probabilities (n, k, c) under the same draws.
        """
        return self.configurations.conditional_entropy(probs)

    def information_error(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each candidate's I[y_n; draw | y_S] (nats), as `standard_error`."""
        p = self.configurations.checked(probs)
        each = _kernels.information_by_configuration(p, self.configurations.beside[0])
        return namespace(each).std(each, axis=1) / math.sqrt(len(self.along))

    def append(self, probs: Float[Array, "k c"], rng: np.random.Generator) -> "SampledJointEntropy":
        """The joint entropy with one more point, whose labels are drawn given each configuration.

        Raises:
            TypeError: if `probs` is no floating-point array.
            ValueError: if `probs` are not probabilities (k, c) under the same draws.
        """
        now = self.configurations
        p = to_host(now.checked(probs, "k c"))
        q = now.predictive(p)
        added = _kernels.entropies(q)
        # Class by class, so that neighbouring strata hold one label and every label gets its share.
        labels, parents = np.divmod(stratified(rearrange(q, "m c -> (c m)"), len(now), rng), len(now))
        posteriors = normalised(now.posteriors[parents] * p.T[labels])
        return SampledJointEntropy(
            Configurations(posteriors, now.masses, now.like),
            self.entropy + float(now.masses @ added),
            (self.along + added)[parents],
        )
