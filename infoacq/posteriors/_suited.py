"""Which blocks the kernels may run: those for which their sums are as exact as the model's own."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from infoacq.posteriors._convolutions import Convolution
from infoacq.posteriors._first_convolution import MIN_CANDIDATES
from infoacq.posteriors._layers import scale
from infoacq.posteriors._ops import extremes
from infoacq.posteriors._planes_kernel import LANES
from infoacq.posteriors._winograd_kernel import GROWTH, LARGEST

_log = logging.getLogger(__name__)


def suits(chain: Sequence[Convolution], x: Tensor) -> bool:
    """Whether the kernels may run a block; if not, debug messages say why."""
    dtypes = {convolution.step.module.weight.dtype for convolution in chain}
    if len(x) < MIN_CANDIDATES:
        reason = f"they run {LANES} side by side"
    elif dtypes != {x.dtype}:
        reason = f"its {x.dtype} meets other dtypes"
    elif not _stay_finite(chain, x):
        reason = "its sums may leave the floating-point numbers"
    elif len(chain) > 1 and _is_lopsided(x):
        reason = "beside its largest number tiles would round the others away"
    else:
        return True
    _log.debug("no kernels for a block of %d candidates: %s", len(x), reason)
    return False


def _stay_finite(chain: Sequence[Convolution], x: Tensor) -> bool:
    """Whether no sum can leave the numbers of the dtype: the kernels' maxima would hide what is none any more."""
    most = reached = extremes(x).abs().amax()
    for place, convolution in enumerate(chain):
        layer = convolution.step.module
        most = most * scale(convolution) * layer.weight.abs().sum((1, 2, 3)).amax()
        most = most if layer.bias is None else most + layer.bias.abs().amax()
        reached = reached.maximum(most * (GROWTH if place else 1))  # those behind the first run in tiles
    return bool(reached.isfinite())


def _is_lopsided(x: Float[Tensor, "n i h w"]) -> bool:
    """Whether the error of a tile, in proportion to its largest number, may be large beside the others."""
    sizes = x.abs()
    return bool((sizes.amax((1, 2, 3)) > LARGEST * sizes.mean((1, 2, 3))).any())
