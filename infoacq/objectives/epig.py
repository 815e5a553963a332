"""EPIG: what a batch of labels tells of the labels at inputs that matter."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int

from infoacq import _kernels, checks
from infoacq._arrays import Array, contract, detached, from_host, namespace, rearrange, to_host
from infoacq.configurations import Configurations, normalised
from infoacq.entropy import uniform
from infoacq.objectives._joint import Joint, empty, extended
from infoacq.pool import Candidates, Pool
from infoacq.sampling import thinned


@dataclass(frozen=True)
class Aimed:
    """The chosen points, and pairs of one of their configurations and a target's label.

    `before` are the configurations of the chosen points; `after` holds, for each pair of a configuration and a target,
    one row a class of the target. Both have the same masses of configurations, so that noise in these cancels.
    """

    joint: Joint
    before: Configurations
    after: Configurations


@dataclass(frozen=True, eq=False)
class EPIG:
    """Σ_t weights_t I[y_S; y_t], what the labels of the batch S tell of the label at one target input (nats).

    Args:
        targets: p(y_t = c | draw k) at the inputs that matter, (t, k, c), under the same draws as the pool's
            predictions; an array, or what `from_probs`, `from_log_probs` or `from_logits` returned.
        weights: how much each target matters, (t,), not negative; they are divided by their sum. Alike by default.
        max_configurations: how many rows the state may hold. The first pick is exact. Of later picks, while the chosen
            points' configurations × targets × classes are more than this, pairs of a configuration and a target are
            sampled, and every class of the target is summed over.

    Two points may tell together what neither tells alone, so a gain can grow with the batch: EPIG is not submodular,
    LazyGreedy refuses it, and the batch is Greedy's, without a guarantee.

    Raises:
        TypeError: if `targets` or `weights` are no floating-point arrays, or `max_configurations` no whole number.
        ValueError: if `targets` are not probabilities (t, k, c), `weights` not one each and not negative, or
            `max_configurations` below 2.

    Source: Bickford Smith et al. 2023 (arXiv 2304.08151), the definition of EPIG in § 4, there for a batch of one.
    """

    targets: Any
    weights: Any = None
    max_configurations: int = 10_000
    not_submodular: ClassVar[str] = "two labels may tell together what neither tells alone"

    def __post_init__(self) -> None:
        checks.whole_number(self.max_configurations, "max_configurations", least=2)
        _ = self._target_probs, self._target_weights

    @cached_property
    def _target_probs(self) -> Float[Array, "t k c"]:
        if hasattr(self.targets, "take") and hasattr(self.targets, "shards"):
            checks.outcome(self.targets, self)
            return self.targets.take(np.arange(len(self.targets))).predictions
        return detached(checks.probabilities(self.targets, "t k c", "targets"))

    @cached_property
    def _target_weights(self) -> Float[np.ndarray, " t"]:
        return checks.relative_weights(self.weights, self._target_probs.shape[0], "targets")

    def init(self, pool: Pool) -> Aimed:
        """No point chosen, every class of every target.

        Raises:
            ValueError: if the targets are under other draws than the pool's predictions, or lie elsewhere.
        """
        joint = empty(pool)
        checks.same_place(self._target_probs, joint.configurations.like, "targets", "the pool's predictions")
        checks.draws(self._target_probs.shape[1], joint.configurations.posteriors.shape[1], "targets")
        targets = np.arange(self._target_probs.shape[0])
        return self._enumerated(joint, np.zeros_like(targets), targets, self._target_weights)

    def gains(self, state: Aimed, candidates: Candidates) -> Float[Array, " n"]:
        """Σ_t weights_t I[y_n; y_t | y_S] = H[y_n | y_S] − Σ_t weights_t H[y_n | y_S, y_t] of each candidate (nats)."""
        before = _kernels.conditional_entropies(candidates.predictions, *state.before.beside)
        after = _kernels.conditional_entropies(candidates.predictions, *state.after.beside)
        # Each pair's share is a mutual information: what is below zero is rounding.
        return namespace(before).clip(before - after, min=0.0)

    def update(self, state: Aimed, chosen: Candidates, rng: np.random.Generator) -> Aimed:
        """The chosen appended, and pairs of a configuration and a target enumerated or drawn anew."""
        joint = extended(state.joint, chosen.predictions, self.max_configurations, rng)
        now, classes = joint.configurations, self._target_probs.shape[2]
        weights = (now.masses[:, None] * self._target_weights[None, :]).ravel()
        count = max(2, self.max_configurations // classes)
        if len(weights) <= count:
            return self._enumerated(joint, *self._pairs(np.arange(len(weights))), weights)
        kept = thinned(weights, self._telling(now), count, rng)
        rows, targets = self._pairs(kept.positions)
        before = Configurations(now.posteriors[rows], kept.masses, now.like, kept.settled)
        return Aimed(joint, before, self._after(now, rows, targets, kept.masses))

    def standard_errors(self, state: Aimed, candidates: Candidates) -> Float[Array, " n"]:
        """The Monte-Carlo standard error of each gain (nats): 0 while nothing is sampled.

        It is that of the latest sample of pairs, to which earlier steps' samples of configurations add little.
        """
        p, pairs = to_host(candidates.predictions), len(state.before)
        if state.before.settled == pairs:
            return from_host(np.zeros(len(p)), like=candidates.predictions)
        before, after = (
            _kernels.entropies_by_configuration(p, rows.posteriors) for rows in (state.before, state.after)
        )
        labels = state.after.masses.reshape(pairs, -1) / state.before.masses[:, None]
        each = before - contract("n p c, p c -> n p", after.reshape(len(p), pairs, -1), labels)
        return from_host(np.sqrt(state.before.sampling_variance(each)), like=candidates.predictions)

    def limit(self, pool: Pool) -> float:
        """Σ_t weights_t I[y_t; draw]: all that the draws, if they were known, would tell of a target (nats)."""
        probs = self._target_probs
        return float(self._target_weights @ to_host(_kernels.mutual_informations(probs, uniform(probs))))

    def _enumerated(
        self,
        joint: Joint,
        rows: Int[np.ndarray, " p"],
        targets: Int[np.ndarray, " p"],
        masses: Float[np.ndarray, " p"],
    ) -> Aimed:
        after = self._after(joint.configurations, rows, targets, masses)
        return Aimed(joint, joint.configurations, after)

    def _pairs(self, positions: Int[np.ndarray, " p"]) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """The configurations and the targets of the pairs at these positions."""
        rows, targets = np.divmod(positions, len(self._target_weights))
        return rows, targets

    def _telling(self, now: Configurations) -> Float[np.ndarray, " p"]:
        """I[y_t; draw | configuration] of each pair, which no candidate's information on the target exceeds (nats)."""
        targets = to_host(self._target_probs)
        parts = [
            _kernels.information_by_configuration(block, _kernels.draw_entropies(block), now.posteriors)
            for block in _kernels.blocks_beside(targets, len(now))
        ]
        telling: np.ndarray = np.clip(np.concatenate(parts), 0.0, None).T.reshape(-1)
        return telling

    def _after(
        self,
        now: Configurations,
        rows: Int[np.ndarray, " p"],
        targets: Int[np.ndarray, " p"],
        masses: Float[np.ndarray, " p"],
    ) -> Configurations:
        """Each pair of a configuration of the chosen points and a target, with each class of the target appended."""
        by_class = rearrange(to_host(self._target_probs), "t k c -> t c k")
        joint = now.posteriors[rows][:, None, :] * by_class[targets]
        labels = normalised(joint.sum(axis=-1)) * masses[:, None]
        return Configurations(
            rearrange(normalised(joint), "p c k -> (p c) k"), rearrange(labels, "p c -> (p c)"), now.like
        )
