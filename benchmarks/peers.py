"""The same job by other libraries: predictions in, chosen candidates out."""

import warnings
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float

Choose = Callable[[Float[np.ndarray, "n k c"], int], list[int]]


def infoacq_default(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """The library as `select_batch` does it unasked, on PyTorch."""
    from infoacq import BatchBALD, SaturationWarning, select_batch

    warnings.simplefilter("ignore", SaturationWarning)
    return select_batch(torch.from_numpy(probs), BatchBALD(), batch_size, seed=0).indices


def infoacq_numpy(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """The library as `select_batch` does it unasked, on NumPy."""
    from infoacq import BatchBALD, SaturationWarning, select_batch

    warnings.simplefilter("ignore", SaturationWarning)
    return select_batch(probs, BatchBALD(), batch_size, seed=0).indices


def infoacq_lazy(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """The library without racing and on 10,000 configurations."""
    from infoacq import BatchBALD, LazyGreedy, SaturationWarning, select_batch

    warnings.simplefilter("ignore", SaturationWarning)
    chosen = select_batch(torch.from_numpy(probs), BatchBALD(10_000), batch_size, maximiser=LazyGreedy(), seed=0)
    return chosen.indices


def batchbald_redux(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """batchbald-redux with 10,000 sampled configurations in float32."""
    from batchbald_redux.batchbald import get_batchbald_batch

    torch.manual_seed(0)
    logs = torch.from_numpy(probs).clamp_min(1e-30).log()
    return [int(i) for i in get_batchbald_batch(logs, batch_size, 10_000, dtype=torch.float32).indices]


def baal(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """BatchBALD of baal with 40,000 / classes draws, which its documentation advises."""
    from baal.active.heuristics import BatchBALD

    heuristic = BatchBALD(num_samples=batch_size, num_draw=40_000 // probs.shape[2])
    chosen, _ = heuristic.get_ranks(probs.transpose(0, 2, 1).copy())
    return [int(i) for i in chosen[:batch_size]]


def scikit_activeml(probs: Float[np.ndarray, "n k c"], batch_size: int) -> list[int]:
    """scikit-activeml's batch_bald with as many samples as batchbald-redux has configurations."""
    from skactiveml.pool import batch_bald

    utilities = batch_bald(probs.transpose(1, 0, 2).astype(np.float64), batch_size, n_MC_samples=10_000, random_state=0)
    return [int(i) for i in np.nanargmax(utilities, axis=1)]


CHOOSERS: dict[str, Choose] = {
    "infoacq": infoacq_default,
    "infoacq (NumPy)": infoacq_numpy,
    "infoacq (lazy, 10,000)": infoacq_lazy,
    "batchbald-redux": batchbald_redux,
    "baal": baal,
    "scikit-activeml": scikit_activeml,
}
