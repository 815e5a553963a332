"""Entropies of categorical predictions under posterior draws: pure functions on arrays, in nats."""

import numpy as np
from jaxtyping import Float

from infoacq import _kernels, checks
from infoacq._arrays import Array, detached, from_host, to_host


def uniform(predictions: Float[Array, "n k *outcome"]) -> Float[Array, " k"]:
    """The probability 1/k of each draw while nothing has been observed."""
    draws = predictions.shape[1]
    return from_host(np.full(draws, 1.0 / draws), like=predictions)


def entropy(probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
    """H[y_n], the entropy of each candidate's mean prediction (nats).

    Raises:
        TypeError: if `probs` is no floating-point array.
        ValueError: if `probs` are not probabilities of shape (n, k, c).

    Source: Houlsby et al. 2011 (arXiv 1112.5745), first term of eq. 2; Gal et al. 2017 (arXiv 1703.02910), § 4.
    """
    p = detached(checks.probabilities(probs, name="probs"))
    return _kernels.marginal_entropies(p, uniform(p))


def expected_entropy(probs: Float[Array, "n k c"], weights: Float[Array, " k"] | None = None) -> Float[Array, " n"]:
    """E_k H[y_n | draw k], the entropy that knowing the parameters would leave each candidate (nats).

    `weights` are the probabilities of the draws, such as a joint entropy's `draw_weights`; uniform by default.

    Raises:
        TypeError: if `probs` or `weights` is no floating-point array.
        ValueError: if `probs` are not probabilities (n, k, c), or `weights` not k probabilities beside them.

    Source: Houlsby et al. 2011 (arXiv 1112.5745), second term of eq. 2.
    """
    p = detached(checks.probabilities(probs, name="probs"))
    if weights is None:
        return _kernels.expected_entropies(p, uniform(p))
    w = to_host(checks.draw_weights(weights, p))
    return _kernels.expected_entropies(p, from_host(w, like=p))


def mutual_information(probs: Float[Array, "n k c"]) -> Float[Array, " n"]:
    """I[y_n; draw] = H[y_n] − E_k H[y_n | draw k], each candidate's BALD score (nats), from 0 to min(log k, log c).

    Raises:
        TypeError: if `probs` is no floating-point array.
        ValueError: if `probs` are not probabilities of shape (n, k, c).

    Source: Houlsby et al. 2011 (arXiv 1112.5745), eq. 2.
    """
    p = detached(checks.probabilities(probs, name="probs"))
    return _kernels.mutual_informations(p, uniform(p))
