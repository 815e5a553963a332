"""The ways of choosing that the experiments compare: an objective, and how the pool is predicted for it."""

from dataclasses import dataclass, replace
from typing import Any

from infoacq import BALD, BatchBALD, MeanStandardDeviation, Random, VariationRatios
from infoacq.objective import Objective


@dataclass(frozen=True)
class Refinement:
    """Few draws for the whole pool, then many for the candidates that BALD ranks best under the few.

    BALD bounds what a candidate can add to any batch, and many draws keep the few as their first.

    Attributes:
        candidates: how many are predicted again.
        draws: under how many draws; the experiment's own number is for the pool and for the test set.
    """

    candidates: int
    draws: int


@dataclass(frozen=True)
class Method:
    """A way of choosing, as the command line and the figures name it.

    Attributes:
        label: its name in figures and tables.
        about: what it chooses by, in a line.
        consistent: the masks of a draw are the same for the whole pool; otherwise each candidate has its own.
        predicts: the pool's predictions matter to the choice.
        refinement: how the best candidates are predicted again; None: the choice is made from the experiment's draws.
        colour: its line in every figure (Okabe and Ito's palette, told apart by colour-blind readers).
    """

    name: str
    label: str
    about: str
    objective: Objective[Any]
    colour: str
    consistent: bool = True
    predicts: bool = True
    refinement: Refinement | None = None


RANDOM = Method("random", "Random", "by chance", Random(), "#000000", predicts=False)
BALD_KEPT = Method("bald", "BALD", "largest sum of BALD scores, one mask a draw for the whole pool", BALD(), "#D55E00")
BALD_FREE = Method(
    "bald-free",
    "BALD, free masks",
    "largest sum of BALD scores, other masks for each candidate",
    BALD(),
    "#E69F00",
    consistent=False,
)
BATCHBALD = Method("batchbald", "BatchBALD", "largest joint information of the batch", BatchBALD(), "#0072B2")
BATCHBALD_10K = replace(BATCHBALD, objective=BatchBALD(max_configurations=10_000))  # as many as in the paper
BATCHBALD_100_DRAWS = replace(
    BATCHBALD_10K,
    name="batchbald-k100",
    label="BatchBALD, 100 draws",
    about="BatchBALD under 100 draws, among the candidates that are best by BALD under 10",
    colour="#56B4E9",
    refinement=Refinement(candidates=4_096, draws=100),
)
VARIATION_RATIOS = Method(
    "variation-ratios",
    "Variation ratios",
    "least probability of the likeliest class",
    VariationRatios(),
    "#009E73",
)
MEAN_STD = Method(
    "mean-std",
    "Mean std. dev.",
    "largest standard deviation over the draws, mean over the classes",
    MeanStandardDeviation(),
    "#CC79A7",
)
