"""The ways of choosing that the experiments compare: an objective, and how the pool is predicted for it."""

from dataclasses import dataclass, replace
from typing import Any

from infoacq import BALD, BatchBALD, MeanStandardDeviation, Random, VariationRatios
from infoacq.objective import Objective


@dataclass(frozen=True)
class Method:
    """A way of choosing, as the command line and the figures name it.

    Attributes:
        consistent: the masks of a draw are the same for the whole pool; otherwise each candidate has its own.
        predicts: the pool's predictions matter to the choice.
        colour: its line in every figure (Okabe and Ito's palette, told apart by colour-blind readers).
    """

    name: str
    label: str
    objective: Objective[Any]
    colour: str
    consistent: bool = True
    predicts: bool = True


RANDOM = Method("random", "Random", Random(), "#000000", predicts=False)
BALD_KEPT = Method("bald", "BALD", BALD(), "#D55E00")
BALD_FREE = Method("bald-free", "BALD, free masks", BALD(), "#E69F00", consistent=False)
BATCHBALD = Method("batchbald", "BatchBALD", BatchBALD(), "#0072B2")
BATCHBALD_10K = replace(BATCHBALD, objective=BatchBALD(max_configurations=10_000))  # as many as in the paper
VARIATION_RATIOS = Method("variation-ratios", "Variation ratios", VariationRatios(), "#009E73")
MEAN_STD = Method("mean-std", "Mean std. dev.", MeanStandardDeviation(), "#CC79A7")
