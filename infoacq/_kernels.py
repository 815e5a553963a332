"""The sums behind every objective, on predictions that have been checked: blocked, so that temporaries stay small.

Notation: predictions p[n, k, c] = p(y_n = c | draw k); posteriors[m, k] = p(draw k | configuration m), rows sum to
one; masses[m] = p(configuration m); draw_entropies[n, k] = H[y_n | draw k]. All results are in nats.
"""

from collections.abc import Iterator

from jaxtyping import Float

from infoacq._arrays import (
    Array,
    block_size,
    blocks,
    concatenated,
    contract,
    namespace,
    rearrange,
    widened,
    with_log_taken,
    with_product_taken,
)


def plogp(p: Array) -> Array:
    """p·log p elementwise, 0 at p = 0: adding the smallest normal number changes no p above 1e-30."""
    return with_product_taken(with_log_taken(p + float(namespace(p).finfo(p.dtype).smallest_normal)), p)


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
    return concatenated([row_entropies(namespace(p).matmul(weights, p)) for p in blocks(predictions)])


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
    classes = predictions.shape[2]
    # Both sides of the matrix product are cut, so that (candidates · classes) × configurations stays in cache.
    width = min(int(block_size(predictions) ** 0.5), posteriors.shape[0])
    cuts = [slice(start, start + width) for start in range(0, posteriors.shape[0], width)]
    out = []
    for p in blocks_beside(predictions, width):
        by_class, total = rearrange(p, "n k c -> (n c) k"), 0.0
        for cut in cuts:
            q = contract("r k, m k -> r m", by_class, posteriors[cut, :])
            total = total - contract("r m, m -> r", plogp(q), masses[cut])
        out.append(namespace(p).sum(namespace(p).reshape(total, (p.shape[0], classes)), axis=-1))
    return concatenated(out)


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
    settled: int,
    reference: Float[Array, " m"],
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Σ_m masses_m (I[y_n; draw | configuration m] − reference_m) and its sampling variance (nats, nats²).

    The first `settled` configurations are no sample, the others a systematic one in its order.
    """
    differences, variances, start = [], [], 0
    for p in blocks_beside(predictions, posteriors.shape[0]):
        of_draws = draw_entropies[start : start + p.shape[0], :]
        each = information_by_configuration(p, of_draws, posteriors)
        terms = (each - reference[None, :]) * masses[None, :]
        differences.append(namespace(p).sum(terms, axis=1))
        variances.append(systematic_variances(terms[:, settled:]))
        start += p.shape[0]
    return concatenated(differences), concatenated(variances)


def entropies_by_configuration(
    predictions: Float[Array, "n k c"], posteriors: Float[Array, "m k"]
) -> Float[Array, "n m"]:
    """H[y_n | configuration m] (nats), for so few candidates that n × c × m numbers may be held."""
    n, _, classes = predictions.shape
    q = contract("r k, m k -> r m", rearrange(predictions, "n k c -> (n c) k"), posteriors)
    return -namespace(q).sum(namespace(q).reshape(plogp(q), (n, classes, posteriors.shape[0])), axis=1)


def information_by_configuration(
    predictions: Float[Array, "n k c"], draw_entropies: Float[Array, "n k"], posteriors: Float[Array, "m k"]
) -> Float[Array, "n m"]:
    """I[y_n; draw | configuration m] (nats), for so few candidates that n × c × m numbers may be held."""
    expected = contract("n k, m k -> n m", draw_entropies, posteriors)
    return entropies_by_configuration(widened(predictions), posteriors) - expected


def systematic_variances(terms: Float[Array, "n m"]) -> Float[Array, " n"]:
    """The variance of each row's sum, the terms a systematic sample in its order, 0 for fewer than two.

    Source: Wolter 2007, Introduction to variance estimation, § 8.2: from successive differences.
    """
    xp, count = namespace(terms), terms.shape[1]
    if count < 2:
        return xp.zeros_like(xp.sum(terms, axis=1))
    return xp.sum((terms[:, 1:] - terms[:, :-1]) ** 2, axis=1) * (0.5 * count / (count - 1))


def blocks_beside(predictions: Float[Array, "n k c"], configurations: int) -> Iterator[Array]:
    """Blocks of candidates whose classes × `configurations`, or × draws if these are more, fit a temporary."""
    _, draws, classes = predictions.shape
    return blocks(predictions, max(1, block_size(predictions) // (classes * max(configurations, draws))))
