"""Every error of the library about what it was given, raised at the door.

A message says what was given, what is wanted and the way out. Nothing is guessed, clipped or renormalised.
"""

from infoacq.checks.arguments import disjoint, enough, fits_in_pool, positions, several, whole_number
from infoacq.checks.clusters import ClusterLostError, cluster_kept, connected, dask_pool, same_version
from infoacq.checks.numbers import costs, numbers, one_each, real_number, relative_weights
from infoacq.checks.objectives import (
    allowed,
    callable_object,
    capability,
    constraint,
    gains,
    group_numbers,
    no_negative_gain,
    objective,
    raced,
    some_chosen,
    summand,
)
from infoacq.checks.outcomes import alike, outcome
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
from infoacq.checks.stores import (
    all_written,
    block_shape,
    file_reaches,
    readable,
    stored,
    unreadable,
)
from infoacq.checks.values import gaussian_targets, same_features, several_draws, values

__all__ = [
    "ClusterLostError",
    "alike",
    "all_written",
    "allowed",
    "block_shape",
    "callable_object",
    "capability",
    "cluster_kept",
    "connected",
    "constraint",
    "costs",
    "dask_pool",
    "disjoint",
    "draw_weights",
    "draws",
    "enough",
    "file_reaches",
    "fits_in_pool",
    "floating_array",
    "gains",
    "gaussian_targets",
    "group_numbers",
    "log_probabilities",
    "logits",
    "no_negative_gain",
    "numbers",
    "objective",
    "one_each",
    "outcome",
    "positions",
    "probabilities",
    "raced",
    "readable",
    "real_number",
    "relative_weights",
    "same_features",
    "same_place",
    "same_version",
    "several",
    "several_draws",
    "shape",
    "some_chosen",
    "stored",
    "summand",
    "unreadable",
    "values",
    "whole_number",
]
