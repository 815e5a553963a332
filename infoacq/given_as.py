"""What predictions may be given as, and the probabilities that they are: whole arrays, or shards as they are read."""

import numpy as np
from jaxtyping import Float, Int

from infoacq import checks
from infoacq._arrays import Array, detached, namespace, widened


def probs(p: Float[Array, "n k c"], index: Int[np.ndarray, " n"] | None = None) -> Float[Array, "n k c"]:
    """p(y_n = c | draw k) as they are, checked; a gradient graph is left behind.

    `index` says where in the pool these candidates are, for errors.
    """
    return detached(checks.probabilities(p, name="probs", index=index))


def log_probs(lp: Float[Array, "n k c"], index: Int[np.ndarray, " n"] | None = None) -> Float[Array, "n k c"]:
    """Probabilities from their logarithms, in the dtype of these."""
    lp = detached(checks.log_probabilities(lp, index=index))
    xp = namespace(lp)
    # Stored as they came: half precision log-probabilities give rows that miss one by half precision's rounding.
    p = xp.astype(xp.exp(widened(lp)), lp.dtype)
    return checks.probabilities(p, name="exp(log_probs)", index=index)


def logits(z: Float[Array, "n k c"], index: Int[np.ndarray, " n"] | None = None) -> Float[Array, "n k c"]:
    """Probabilities by softmax over the classes, in at least float32."""
    z = widened(detached(checks.logits(z, index=index)))
    xp = namespace(z)
    unnormalised = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    return unnormalised / xp.sum(unnormalised, axis=-1, keepdims=True)
