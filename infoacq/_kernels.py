"""The sums behind every objective, on predictions that have been checked: blocked, so that temporaries stay small.

Notation: predictions p[n, k, c] = p(y_n = c | draw k); posteriors[m, k] = p(draw k | configuration m), rows sum to
one; masses[m] = p(configuration m); draw_entropies[n, k] = H[y_n | draw k]. All results are in nats.
"""

from collections.abc import Callable, Iterator
from typing import cast

import numpy as np
from jaxtyping import Float

from infoacq._arrays import (
    Array,
    block_size,
    blocks,
    compiled,
    concatenated,
    contract,
    dtype_name,
    namespace,
    place,
    rearrange,
    widened,
    with_log_taken,
    with_product_taken,
)


def plogp(p: Array) -> Array:
    """p·log p elementwise, 0 at p = 0: adding the smallest normal number changes no p above 1e-30."""
    return with_product_taken(with_log_taken(p + float(namespace(p).finfo(p.dtype).smallest_normal)), p)


@compiled
def row_entropies(p: Float[Array, "*batch c"]) -> Float[Array, "*batch"]:
    """H of each row of class probabilities (nats)."""
    # A matrix product with ones: summing over a short last axis is several times slower.
    return -namespace(p).matmul(plogp(p), namespace(p).ones_like(p[(0,) * (p.ndim - 1) + (...,)]))


def draw_entropies(predictions: Float[Array, "n k c"]) -> Float[Array, "n k"]:
    """H[y_n | draw k] (nats)."""
    return concatenated([row_entropies(p) for p in blocks(predictions)])


def marginal_entropies(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """H[Σ_k weights_k p_nk:] (nats)."""
    # Not `contract`, which is slow at the product of one row with a batch of matrices.
    return concatenated([_marginal_entropies(p, weights) for p in blocks(predictions)])


@compiled
def _marginal_entropies(p: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    return row_entropies(namespace(p).matmul(weights, p))


def expected_entropies(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """Σ_k weights_k H[p_nk:] (nats)."""
    return contract("n k, k -> n", draw_entropies(predictions), weights)


def mutual_informations(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """H[Σ_k weights_k p_nk:] − Σ_k weights_k H[p_nk:] (nats), never negative: what is below zero is rounding."""
    gain = marginal_entropies(predictions, weights) - expected_entropies(predictions, weights)
    return namespace(gain).clip(gain, min=0.0)


def conditional_entropies(
    predictions: Float[Array, "n k c"], posteriors: Float[Array, "m k"], masses: Float[Array, " m"]
) -> Float[Array, " n"]:
    """H[y_n | configuration] = Σ_m masses_m · H[Σ_k posteriors_mk p_nk:] (nats)."""
    if posteriors.shape[0] == 1:
        return marginal_entropies(predictions, posteriors[0, :])
    if (fused := _fused(predictions, posteriors)) is not None:
        return fused(predictions, posteriors, masses)
    width = min(int(block_size(predictions) ** 0.5), posteriors.shape[0])
    return concatenated([_conditional_entropies(p, posteriors, masses) for p in blocks_beside(predictions, width)])


def _fused(predictions: Array, posteriors: Array) -> Callable[..., Array] | None:
    """The same sum in one pass, where there is such a kernel: CUDA tensors computed with in float32, and Triton."""
    if not place(predictions).startswith("torch on cuda") or dtype_name(posteriors) != "float32":
        return None
    try:
        from infoacq import _fused as kernel
    except ImportError:  # PyTorch on some systems comes without Triton
        return None
    return cast(Callable[..., Array], kernel.conditional_entropies)


@compiled
def _conditional_entropies(
    p: Float[Array, "n k c"], posteriors: Float[Array, "m k"], masses: Float[Array, " m"]
) -> Float[Array, " n"]:
    # Configurations are cut as well, so that (candidates · classes) × configurations stays in cache.
    width = int(block_size(p) ** 0.5)
    by_class, total = rearrange(p, "n k c -> (n c) k"), 0.0
    for start in range(0, posteriors.shape[0], width):
        q = contract("m k, r k -> r m", posteriors[start : min(start + width, posteriors.shape[0]), :], by_class)
        total = total - contract("r m, m -> r", plogp(q), masses[start : min(start + width, posteriors.shape[0])])
    return namespace(p).sum(namespace(p).reshape(total, (p.shape[0], p.shape[2])), axis=-1)


def information(
    predictions: Float[Array, "n k c"],
    draw_entropies: Float[Array, "n k"],
    posteriors: Float[Array, "m k"],
    masses: Float[Array, " m"],
    weights: Float[Array, " k"],
) -> Float[Array, " n"]:
    """I[y_n; draw | configuration] (nats), never negative.

    Both entropies are taken under the same configurations, so each configuration's share is a mutual information
    and noise that is common to the two cancels. What comes out below zero is rounding. `weights` are
    Σ_m masses_m posteriors_m:, summed by the caller in more digits than the arrays here may have.
    """
    expected = contract("n k, k -> n", draw_entropies, weights)
    gain = conditional_entropies(predictions, posteriors, masses) - expected
    return namespace(gain).clip(gain, min=0.0)


def information_differences(
    predictions: Float[Array, "n k c"],
    draw_entropies: Float[Array, "n k"],
    posteriors: Float[Array, "m k"],
    masses: Float[Array, " m"],
    reference: Float[Array, " m"],
    step_weights: Float[Array, " steps"],
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Σ_m masses_m (I[y_n; draw | configuration m] − reference_m) and its sampling variance (nats, nats²).

    `step_weights` are those of `systematic_steps`.
    """
    differences, variances, start = [], [], 0
    for p in blocks_beside(predictions, posteriors.shape[0]):
        of_draws = draw_entropies[start : start + p.shape[0], :]
        difference, variance = _information_differences(p, of_draws, posteriors, masses, reference, step_weights)
        differences.append(difference)
        variances.append(variance)
        start += p.shape[0]
    return concatenated(differences), concatenated(variances)


@compiled
def _information_differences(
    p: Float[Array, "n k c"],
    draw_entropies: Float[Array, "n k"],
    posteriors: Float[Array, "m k"],
    masses: Float[Array, " m"],
    reference: Float[Array, " m"],
    step_weights: Float[Array, " steps"],
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    each = information_by_configuration(p, draw_entropies, posteriors)
    terms = (each - reference[None, :]) * masses[None, :]
    return namespace(p).sum(terms, axis=1), systematic_variances(terms, step_weights)


@compiled
def entropies_by_configuration(
    predictions: Float[Array, "n k c"], posteriors: Float[Array, "m k"]
) -> Float[Array, "n m"]:
    """H[y_n | configuration m] (nats), for so few candidates that n × c × m numbers may be held."""
    n, _, classes = predictions.shape
    q = contract("m k, r k -> r m", posteriors, rearrange(predictions, "n k c -> (n c) k"))
    return -namespace(q).sum(namespace(q).reshape(plogp(q), (n, classes, posteriors.shape[0])), axis=1)


def information_by_configuration(
    predictions: Float[Array, "n k c"], draw_entropies: Float[Array, "n k"], posteriors: Float[Array, "m k"]
) -> Float[Array, "n m"]:
    """I[y_n; draw | configuration m] (nats), for so few candidates that n × c × m numbers may be held."""
    expected = contract("m k, n k -> n m", posteriors, draw_entropies)
    return entropies_by_configuration(widened(predictions), posteriors) - expected


def systematic_variances(terms: Float[Array, "n m"], step_weights: Float[Array, " steps"]) -> Float[Array, " n"]:
    """The sampling variance of each row's sum, from the steps between its terms."""
    return contract("n m, m -> n", (terms[:, 1:] - terms[:, :-1]) ** 2, step_weights)


def systematic_steps(count: int, settled: int) -> Float[np.ndarray, " steps"]:
    """The weight of each squared step between successive terms in the variance of their sum.

    The first `settled` of the `count` terms are no sample; the others are a systematic one, in its order.

    Source: Wolter 2007, Introduction to variance estimation, § 8.2.
    """
    sampled = count - settled
    weight = 0.5 * sampled / (sampled - 1) if sampled > 1 else 0.0
    return np.where(np.arange(count - 1) >= settled, weight, 0.0)


def blocks_beside(predictions: Float[Array, "n k c"], configurations: int) -> Iterator[Array]:
    """Blocks of candidates whose classes × `configurations`, or × draws if these are more, fit a temporary."""
    _, draws, classes = predictions.shape
    return blocks(predictions, max(1, block_size(predictions) // (classes * max(configurations, draws))))
