"""From what a model returns to probabilities, refusing what cannot be turned into them."""

from __future__ import annotations

from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

Output = Literal["logits", "log_probs", "probs"]
_SUM_TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 5e-2}  # within which rows look like probabilities
_MOST = 1e-3  # by which rows of single precision may miss one, as `infoacq.from_probs` says


def check_output_kind(output: str) -> None:
    """Raises ValueError for a word that is not one of the three."""
    if output not in get_args(Output):
        raise ValueError(f"output must be one of {get_args(Output)}; got {output!r}.")


def class_scores(returned: Any, rows: int) -> Float[Tensor, "n c"]:
    """What a model returned for a batch of `rows` candidates, if it can be class scores.

    Raises:
        TypeError: it is no floating tensor.
        ValueError: it has another shape.
    """
    if not isinstance(returned, Tensor) or not returned.is_floating_point():
        raise TypeError(
            f"the model must return a floating tensor of class scores; got {_describe(returned)}. "
            "Wrap it in a module that returns the logits alone."
        )
    if returned.ndim != 2 or len(returned) != rows:
        raise ValueError(
            f"the model must return shape (n, c) = (candidates, classes) with n = {rows}; got {tuple(returned.shape)}."
        )
    return returned.detach()


def to_probs(scores: Float[Tensor, "n k c"], output: Output, row: int) -> Float[Tensor, "n k c"]:
    """Class probabilities (no unit) in float32 or better; `row` is the place of the first candidate.

    Raises:
        ValueError: values that are not what `output` says, or not finite.
    """
    looks_like_probs = _are_probs(scores, _SUM_TOLERANCE.get(scores.dtype, 1e-4))
    wide = scores if scores.dtype == torch.float64 else scores.float()
    if output == "probs":
        _check_finite(wide, row)
        if not looks_like_probs:
            raise ValueError(f"output='probs', but the model's rows are not probabilities: {_worst(wide)}.")
        if not _are_probs(wide, _MOST):
            raise ValueError(
                f"the model's probabilities are rounded to {scores.dtype}, too coarse to sum to one: {_worst(wide)}. "
                "Let it return its logits, or take the softmax in float32."
            )
        return wide
    if looks_like_probs and scores.shape[-1] > 1:
        raise ValueError(
            f"output={output!r}, but every row of the model's output is non-negative and sums to one: these are "
            "probabilities, and a second softmax would flatten them. Pass output='probs'."
        )
    probs = wide.softmax(dim=-1)  # of log-probabilities it is their exponential
    _check_finite(probs, row)
    return probs


def _check_finite(probs: Float[Tensor, "n k c"], row: int) -> None:
    bad = ~probs.isfinite().all(dim=-1)
    if bad.any():
        candidate, draw = bad.nonzero()[0].tolist()
        raise ValueError(
            f"the model gave NaN or infinity for candidate {row + candidate} under draw {draw}. "
            "Look at that input and at the model's weights; nothing is guessed in their place."
        )


def _are_probs(scores: Float[Tensor, "n k c"], tolerance: float) -> bool:
    return bool((scores >= 0).all() and ((scores.float().sum(dim=-1) - 1.0).abs() <= tolerance).all())


def _worst(scores: Float[Tensor, "n k c"]) -> str:
    sums = scores.sum(dim=-1)
    return f"smallest entry {scores.min():.4g}, sums between {sums.min():.4g} and {sums.max():.4g}"


def _describe(returned: Any) -> str:
    return f"a {returned.dtype} tensor" if isinstance(returned, Tensor) else type(returned).__name__
