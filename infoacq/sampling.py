"""Which configurations to keep when there are too many: the same sums from fewer of them, with little noise."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int


class Kept(NamedTuple):
    """Configurations that stand for all: positions, new masses, and how many (the first) kept their own mass."""

    positions: Int[np.ndarray, " kept"]
    masses: Float[np.ndarray, " kept"]
    settled: int


def impurity(posteriors: Float[np.ndarray, "m k"]) -> Float[np.ndarray, " m"]:
    """1 − Σ_k posterior², how far each configuration is from telling which draw is true: 0 where it does."""
    left: np.ndarray = np.clip(1.0 - np.einsum("m k, m k -> m", posteriors, posteriors), 0.0, None)
    return left


def thinned(
    masses: Float[np.ndarray, " m"], impurities: Float[np.ndarray, " m"], count: int, rng: np.random.Generator
) -> Kept:
    """At most `count` of the configurations, whose weighted sums estimate those over all without bias.

    A configuration that is certain of the draw adds nothing to any later gain, so half of the weight by which
    configurations are kept is their mass and half their mass times impurity (importance sampling with a defensive
    half). The heavy keep their own mass, which costs no noise; of the rest a systematic sample is taken in the order
    of their impurity, in which neighbours tell about as much. Masses of the sample are divided by their sum.

    Source: Fearnhead and Clifford 2003 for keeping the heavy ones; Hesterberg 1995 for the defensive half;
    Madow and Madow 1944 for systematic sampling. Schemes are compared in docs/estimates.md.
    """
    if len(masses) <= count:
        return Kept(np.arange(len(masses)), masses, len(masses))
    possible = np.flatnonzero(masses)
    if len(possible) <= count:
        return Kept(possible, masses[possible], len(possible))
    telling = masses * impurities
    weight = masses / masses.sum() + telling / max(telling.sum(), 1e-9 * masses.sum())
    falling = np.argsort(-weight, kind="stable")
    step, heavy = _threshold(weight[falling], count)
    rest = falling[heavy:]
    rest = rest[np.argsort(impurities[rest], kind="stable")]
    drawn = rest[_systematic(weight[rest], count - heavy, rng)]
    index = np.concatenate([falling[:heavy], drawn])
    kept = np.concatenate([masses[falling[:heavy]], masses[drawn] / weight[drawn] * step])
    return Kept(index, kept * (masses.sum() / kept.sum()), heavy)


def _threshold(falling: Float[np.ndarray, " m"], count: int) -> tuple[float, int]:
    """The step of a systematic sample and how many weights are above it, so that `count` are kept in all.

    Two at least are sampled, if so many are kept: one says nothing of its own error.
    """
    at_most = max(1, count - 1)
    tails = falling.sum() - np.concatenate([[0.0], np.cumsum(falling)[: at_most - 1]])
    steps = tails / (count - np.arange(at_most))
    light = np.flatnonzero(falling[:at_most] <= steps)
    heavy = int(light[0]) if len(light) else at_most - 1
    return float(steps[heavy]), heavy


def _systematic(weights: Float[np.ndarray, " m"], count: int, rng: np.random.Generator) -> Int[np.ndarray, " count"]:
    """`count` positions at equal steps of the cumulated weights from a random start; nowhere of weight 0."""
    cumulated = np.cumsum(weights)
    points = (np.arange(count) + rng.random()) * (cumulated[-1] / count)
    last = int(np.searchsorted(cumulated, cumulated[-1]))  # rounding may put the last point at the very end
    drawn: np.ndarray = np.minimum(np.searchsorted(cumulated, points, side="right"), last)
    return drawn
