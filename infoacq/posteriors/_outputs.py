"""From what a model returns to probabilities, refusing what cannot be turned into them."""

from __future__ import annotations

from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor

Output = Literal["logits", "log_probs", "probs"]
_SUM_TOLERANCE = {torch.float16: 1e-2, torch.bfloat16: 5e-2}


def check_output_kind(output: str) -> None:
    """Raises ValueError for a word that is not one of the three."""
    if output not in ("logits", "log_probs", "probs"):
        raise ValueError(f"output must be 'logits', 'log_probs' or 'probs'; got {output!r}.")


def to_probs(returned: Any, output: Output, rows: int) -> Float[Tensor, "n c"]:
    """Class probabilities (no unit) of a batch, in float32 or better.

    Raises:
        TypeError: the model returned no floating tensor.
        ValueError: a wrong shape, or values that are not what `output` says.
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
    scores = returned.detach()
    scores = scores if scores.dtype == torch.float64 else scores.float()
    looks_like_probs = _are_probs(scores, _SUM_TOLERANCE.get(returned.dtype, 1e-4))
    if output == "probs":
        if not looks_like_probs:
            raise ValueError(f"output='probs', but the model's rows are not probabilities: {_worst(scores)}.")
        return scores
    if looks_like_probs and scores.shape[1] > 1:
        raise ValueError(
            f"output={output!r}, but every row of the model's output is non-negative and sums to one: these "
            "are probabilities, and a second softmax would flatten them. Pass output='probs'."
        )
    return scores.softmax(dim=1)  # of log-probabilities it is their exponential


def check_finite(probs: Float[Tensor, "n c"], row: int, draw: int) -> None:
    """Raises ValueError for the first candidate without finite probabilities; `row` is where they begin."""
    bad = (~probs.isfinite()).any(dim=1)
    if bad.any():
        first = row + int(bad.nonzero()[0])
        raise ValueError(
            f"the model gave NaN or infinity for candidate {first} under draw {draw}. "
            "Look at that input and at the model's weights; nothing is guessed in their place."
        )


def _are_probs(scores: Float[Tensor, "n c"], tolerance: float) -> bool:
    return bool((scores >= 0).all() and ((scores.sum(dim=1) - 1.0).abs() <= tolerance).all())


def _worst(scores: Float[Tensor, "n c"]) -> str:
    sums = scores.sum(dim=1)
    return f"smallest entry {scores.min():.4g}, sums between {sums.min():.4g} and {sums.max():.4g}"


def _describe(returned: Any) -> str:
    return f"a {returned.dtype} tensor" if isinstance(returned, Tensor) else type(returned).__name__
