"""infoacq: choose which unlabelled points to label next, by what their labels tell together."""

from infoacq.entropy import entropy, expected_entropy, mutual_information
from infoacq.joint import ExactJointEntropy, SampledJointEntropy
from infoacq.maximiser import Maximiser
from infoacq.maximisers import Greedy, LazyGreedy, TopK
from infoacq.objective import Objective
from infoacq.objectives import (
    BALD,
    BatchBALD,
    MeanStandardDeviation,
    PredictiveEntropy,
    Random,
    VariationRatios,
)
from infoacq.pool import Candidates, Pool, from_log_probs, from_logits, from_probs
from infoacq.select import select_batch
from infoacq.selection import SaturationWarning, Selection
from infoacq.split import PoolSplit

__all__ = [
    "BALD",
    "BatchBALD",
    "Candidates",
    "ExactJointEntropy",
    "Greedy",
    "LazyGreedy",
    "Maximiser",
    "MeanStandardDeviation",
    "Objective",
    "Pool",
    "PoolSplit",
    "PredictiveEntropy",
    "Random",
    "SampledJointEntropy",
    "SaturationWarning",
    "Selection",
    "TopK",
    "VariationRatios",
    "entropy",
    "expected_entropy",
    "from_log_probs",
    "from_logits",
    "from_probs",
    "mutual_information",
    "select_batch",
]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("infoacq")
    raise AttributeError(f"module 'infoacq' has no attribute {name!r}")
