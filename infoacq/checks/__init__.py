"""Every error of the library about what it was given, raised at the door.

A message says what was given, what is wanted and the way out. Nothing is guessed, clipped or renormalised.
"""

from infoacq.checks.arguments import (
    callable_object,
    capability,
    disjoint,
    enough,
    fits_in_pool,
    gains,
    left_to_choose,
    no_negative_gain,
    objective,
    positions,
    whole_number,
)
from infoacq.checks.numbers import numbers, one_each, real_number, relative_weights
from infoacq.checks.predictions import (
    draw_weights,
    draws,
    floating_array,
    log_probabilities,
    logits,
    probabilities,
    same_place,
    shape,
)

__all__ = [
    "callable_object",
    "capability",
    "disjoint",
    "draw_weights",
    "draws",
    "enough",
    "fits_in_pool",
    "floating_array",
    "gains",
    "left_to_choose",
    "log_probabilities",
    "logits",
    "no_negative_gain",
    "numbers",
    "objective",
    "one_each",
    "positions",
    "probabilities",
    "real_number",
    "relative_weights",
    "same_place",
    "shape",
    "whole_number",
]
