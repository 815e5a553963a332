"""Joint entropies of the chosen points, exact and sampled, that grow by one point at a time."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array, from_host, rearrange, to_host
from infoacq.configurations import Configurations
from infoacq.sampling import thinned


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
        return cls(Configurations(np.full((1, draws), 1.0 / draws), np.ones(1), one, settled=1), 0.0)

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

    def entropy_error(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """The standard error of each H[y_n | y_S] (nats): 0, nothing is sampled."""
        return from_host(np.zeros(probs.shape[0]), like=probs)

    def information_error(self, probs: Float[Array, "n k c"], *, check: bool = True) -> Float[Array, " n"]:
        """The standard error of each I[y_n; draw | y_S] (nats): 0, nothing is sampled."""
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
        parents, labels = np.divmod(np.arange(q.size), q.shape[1])
        masses = rearrange(now.masses[:, None] * q, "m c -> (m c)")
        added = float(now.masses @ _kernels.row_entropies(q))
        return ExactJointEntropy(now.labelled(p, parents, labels, masses, q.size), self.entropy + added)

    def sampled(self, num_configurations: int, rng: np.random.Generator) -> "SampledJointEntropy":
        """The same joint entropy on at most `num_configurations` configurations, now and as points are appended.

        Raises:
            TypeError: if `num_configurations` is no whole number.
            ValueError: if it is below 2, of which there is no standard error.
        """
        count = checks.whole_number(num_configurations, "num_configurations", least=2)
        return SampledJointEntropy(self.configurations.thinned(count, rng), self.entropy, count)


@dataclass(frozen=True)
class SampledJointEntropy:
    """An estimate of H[y_S] of the chosen points on a sample of their configurations (nats).

    Attributes:
        configurations: the sample, by importance: see `infoacq.sampling`.
        entropy: the estimate of H[y_S], the chain-rule sum of what each point added (nats).
        num_configurations: how many configurations there may be.
        standard_error: the Monte-Carlo standard error of `entropy` (nats), a bound: errors of the points are added up.
        entropy_variance: what sampling before the latest gave to the variance of a conditional entropy (nats²).
        information_noise: the same of a conditional mutual information, relative to that (nats): an error in the mass
            of a configuration counts for less the less there is left to tell.

    Source: Kirsch et al. 2019 (arXiv 1906.08158), § 3.3.2 and appendix C. The labels of the last point are summed over
    and not drawn, so what a point adds is a weighted mean of exact conditional entropies.
    """

    configurations: Configurations
    entropy: float
    num_configurations: int
    standard_error: float = 0.0
    entropy_variance: float = 0.0
    information_noise: float = 0.0

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

    def entropy_error(self, probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each candidate's H[y_n | y_S] (nats)."""
        entropies, _ = self._each(to_host(self.configurations.checked(probs)))
        latest = self.configurations.sampling_variance(entropies)
        return from_host(np.sqrt(self.entropy_variance + latest), like=probs)

    def information_error(self, probs: Float[Array, "n k c"], *, check: bool = True) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each candidate's I[y_n; draw | y_S] (nats).

        `check=False` is for what was made of predictions that are known to be probabilities.
        """
        _, each = self._each(to_host(self.configurations.checked(probs) if check else probs))
        earlier = self.information_noise * np.clip(each @ self.configurations.masses, 0.0, None)
        return from_host(np.sqrt(earlier + self.configurations.sampling_variance(each)), like=probs)

    def append(self, probs: Float[Array, "k c"], rng: np.random.Generator) -> "SampledJointEntropy":
        """The joint entropy with one more point: every label of it under every configuration, then a sample of these.

        Raises:
            TypeError: if `probs` is no floating-point array.
            ValueError: if `probs` are not probabilities (k, c) under the same draws.
        """
        now = self.configurations
        p = to_host(now.checked(probs, "k c"))
        q = now.predictive(p)
        masses = rearrange(now.masses[:, None] * q, "m c -> (m c)")
        kept = thinned(masses, rearrange(self._impurities(p), "m c -> (m c)"), self.num_configurations, rng)
        parents, labels = np.divmod(kept.positions, q.shape[1])
        entropies, information = self._each(p[None])
        entropy_variance = self.entropy_variance + float(now.sampling_variance(entropies)[0])
        return replace(
            self,
            configurations=now.labelled(p, parents, labels, kept.masses, kept.settled),
            entropy=self.entropy + float(now.masses @ entropies[0]),
            standard_error=self.standard_error + entropy_variance**0.5,
            entropy_variance=entropy_variance,
            information_noise=self.information_noise + now.relative_variance(information),
        )

    def _each(self, p: Float[np.ndarray, "n k c"]) -> tuple[Float[np.ndarray, "n m"], Float[np.ndarray, "n m"]]:
        """H[y_n | configuration m] and I[y_n; draw | configuration m] of a few candidates (nats)."""
        posteriors = self.configurations.posteriors
        entropies = _kernels.entropies_by_configuration(p, posteriors)
        return entropies, entropies - _kernels.row_entropies(p) @ posteriors.T

    def _impurities(self, p: Float[np.ndarray, "k c"]) -> Float[np.ndarray, "m c"]:
        """The impurity of each configuration's posterior once it has each label of one more point."""
        posteriors = self.configurations.posteriors
        squared_total = (posteriors @ p) ** 2
        squares = (posteriors**2) @ (p**2)
        left: np.ndarray = np.clip(1.0 - squares / np.where(squared_total > 0, squared_total, 1.0), 0.0, 1.0)
        return left
