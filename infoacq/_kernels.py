"""The sums behind every objective, on predictions that have been checked: blocked, so that temporaries stay small.

Notation: predictions p[n, k, c] = p(y_n = c | draw k); posteriors[m, k] = p(draw k | configuration m), rows sum to
one; masses[m] = p(configuration m). All results are in nats.
"""

from jaxtyping import Float

from infoacq._arrays import Array, block_size, blocks, concatenated, contract, namespace, rearrange, widened


def negative_plogp(p: Array) -> Array:
    """−p·log p elementwise, 0 at p = 0: adding the smallest normal number changes no p above 1e-30."""
    xp = namespace(p)
    return -p * xp.log(p + float(xp.finfo(p.dtype).smallest_normal))


def entropies(p: Float[Array, "*batch c"]) -> Float[Array, "*batch"]:
    """H of each row of class probabilities (nats)."""
    return namespace(p).sum(negative_plogp(p), axis=-1)


def marginal_entropies(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """H[Σ_k weights_k p_nk:] (nats)."""
    return concatenated([entropies(contract("n k c, k -> n c", p, weights)) for p in blocks(predictions)])


def expected_entropies(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """Σ_k weights_k H[p_nk:] (nats)."""
    return concatenated([contract("n k, k -> n", entropies(p), weights) for p in blocks(predictions)])


def mutual_informations(predictions: Float[Array, "n k c"], weights: Float[Array, " k"]) -> Float[Array, " n"]:
    """H[Σ_k weights_k p_nk:] − Σ_k weights_k H[p_nk:] (nats), never negative: what is below zero is rounding."""
    xp = namespace(predictions)
    parts = [
        entropies(contract("n k c, k -> n c", p, weights)) - contract("n k, k -> n", entropies(p), weights)
        for p in blocks(predictions)
    ]
    return xp.clip(concatenated(parts), min=0.0)


def conditional_entropies(
    predictions: Float[Array, "n k c"], posteriors: Float[Array, "m k"], masses: Float[Array, " m"]
) -> Float[Array, " n"]:
    """H[y_n | configuration] = Σ_m masses_m · H[Σ_k posteriors_mk p_nk:] (nats)."""
    if posteriors.shape[0] == 1:
        return marginal_entropies(predictions, posteriors[0, :])
    _, draws, classes = predictions.shape
    # Both sides of the matrix product are cut, so that (candidates · classes) × configurations stays in cache.
    width = min(max(1, int(block_size(predictions) ** 0.5)), posteriors.shape[0])
    rows = max(1, block_size(predictions) // (classes * max(width, draws)))
    cuts = [slice(i, min(i + width, posteriors.shape[0])) for i in range(0, posteriors.shape[0], width)]
    out = []
    for p in blocks(predictions, rows):
        by_class = rearrange(p, "n k c -> (n c) k")
        total: Array = 0.0
        for cut in cuts:
            q = contract("r k, m k -> r m", by_class, posteriors[cut, :])
            total = total + contract("r m, m -> r", negative_plogp(q), masses[cut])
        out.append(namespace(p).sum(namespace(p).reshape(total, (p.shape[0], classes)), axis=-1))
    return concatenated(out)


def information(
    predictions: Float[Array, "n k c"],
    posteriors: Float[Array, "m k"],
    masses: Float[Array, " m"],
    weights: Float[Array, " k"],
) -> Float[Array, " n"]:
    """I[y_n; draw | configuration] (nats), never negative.

    Both entropies are taken under the same configurations, so each configuration's share is a mutual information
    and noise that is common to the two cancels. What comes out below zero is rounding. `weights` are
    Σ_m masses_m posteriors_m:, summed by the caller in more digits than the arrays here may have.
    """
    if posteriors.shape[0] == 1:
        return mutual_informations(predictions, weights)
    gain = conditional_entropies(predictions, posteriors, masses) - expected_entropies(predictions, weights)
    return namespace(gain).clip(gain, min=0.0)


def information_by_configuration(
    predictions: Float[Array, "n k c"], posteriors: Float[Array, "m k"]
) -> Float[Array, "n m"]:
    """I[y_n; draw | configuration m] (nats), for a few candidates: the result holds n × m numbers."""
    p = widened(predictions)
    marginal = entropies(contract("n k c, m k -> n m c", p, posteriors))
    return marginal - contract("n k, m k -> n m", entropies(p), posteriors)
