"""The kernel of conditional entropies for CUDA tensors: the matrix product and the entropy in one pass, by Triton.

Nothing of the size of candidates × configurations leaves the processor's registers, so the memory that is read is the
predictions, once for all configurations. Imported only where a CUDA tensor is met.
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

BLOCK_ROWS, BLOCK_CONFIGURATIONS, BLOCK_DRAWS = 64, 64, 32


# fmt: off
@triton.jit  # type: ignore[untyped-decorator]
def _weighted_entropies(  # type: ignore[no-untyped-def]  # Triton reads no annotation but constexpr
    p, posteriors, masses, out, rows, draws, classes, configurations,
    BLOCK_R: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):
    # fmt: on
    """out[r] = −Σ_m masses_m q_rm log q_rm with q_rm = Σ_k p_rk posteriors_mk; r runs over candidates and classes."""
    r = tl.program_id(0) * BLOCK_R + tl.arange(0, BLOCK_R)
    first = (r // classes).to(tl.int64) * draws * classes + r % classes
    total = tl.zeros([BLOCK_R], tl.float32)
    for start in range(0, configurations, BLOCK_M):
        m = start + tl.arange(0, BLOCK_M)
        q = tl.zeros([BLOCK_R, BLOCK_M], tl.float32)
        for of_draws in range(0, draws, BLOCK_K):
            k = of_draws + tl.arange(0, BLOCK_K)
            here, there = (r < rows)[:, None] & (k < draws)[None, :], (k < draws)[:, None] & (m < configurations)[None]
            of_rows = tl.load(p + first[:, None] + k[None, :] * classes, mask=here, other=0.0).to(tl.float32)
            of_configurations = tl.load(posteriors + m[None, :] * draws + k[:, None], mask=there, other=0.0)
            # Not the shortened products that tensor cores prefer: their error is that of half precision.
            q = tl.dot(of_rows, of_configurations, q, input_precision="ieee")
        weight = tl.load(masses + m, mask=m < configurations, other=0.0)
        total -= tl.sum(tl.where(q > 0.0, q * tl.log(tl.where(q > 0.0, q, 1.0)), 0.0) * weight[None, :], axis=1)
    tl.store(out + r, total, mask=r < rows)


def conditional_entropies(
    predictions: Float[Tensor, "n k c"], posteriors: Float[Tensor, "m k"], masses: Float[Tensor, " m"]
) -> Float[Tensor, " n"]:
    """H[y_n | configuration] = Σ_m masses_m · H[Σ_k posteriors_mk p_nk:] (nats), in float32."""
    n, draws, classes = predictions.shape
    out = torch.empty(n * classes, dtype=torch.float32, device=predictions.device)
    _weighted_entropies[(triton.cdiv(n * classes, BLOCK_ROWS),)](
        predictions.contiguous(), posteriors.contiguous(), masses, out, n * classes, draws, classes, len(masses),
        BLOCK_R=BLOCK_ROWS, BLOCK_M=BLOCK_CONFIGURATIONS, BLOCK_K=BLOCK_DRAWS,
    )  # fmt: skip
    return out.view(n, classes).sum(dim=1)
