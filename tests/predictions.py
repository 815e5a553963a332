"""Predictions to test on: made by hand, at random, and by hypothesis."""

import numpy as np
from hypothesis import strategies as st

# Candidates, draws, classes of the tests on every backend: one shape, as JAX compiles anew for each.
STANDARD = (6, 4, 3)
# The example of trap 1, of BALD 0, log 2, 0, in that shape: draws twice, and a class that never happens.
_CERTAIN_TOLD_COIN = [[[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0]], [[0.5, 0.5, 0], [0.5, 0.5, 0]]]
TRAP_1 = np.tile(np.array(_CERTAIN_TOLD_COIN), (2, 2, 1))


def dyadic(seed: int, n: int, k: int, c: int, parts: int = 64) -> np.ndarray:
    """Random probabilities in 64ths: every dtype down to bfloat16 holds them exactly, zeros and ones among them."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(parts, rng.dirichlet(np.ones(c), size=(n, k))) / parts


def dirichlet(seed: int, n: int, k: int, c: int, concentration: float = 1.0) -> np.ndarray:
    """Random probabilities, the nearer to 0 and 1 the smaller the concentration."""
    return np.random.default_rng(seed).dirichlet(np.full(c, concentration), size=(n, k))


@st.composite
def pools(draw: st.DrawFn, max_n: int = 5, max_k: int = 4, max_c: int = 3) -> np.ndarray:
    """Small pools of probabilities with zeros, ones, ties and tiny numbers in them."""
    n, k, c = (draw(st.integers(1, most)) for most in (max_n, max_k, max_c))
    weight = st.one_of(st.integers(0, 4).map(float), st.floats(0, 1), st.sampled_from([1e-30, 1e-6, 0.999999]))
    row = st.lists(weight, min_size=c, max_size=c).filter(lambda w: sum(w) > 1e-9)
    rows = draw(st.lists(row, min_size=n * k, max_size=n * k))
    values = np.array(rows).reshape(n, k, c)
    return values / values.sum(axis=-1, keepdims=True)
