"""What a batch is worth: one file a paper."""

from infoacq.objectives.bald import BALD
from infoacq.objectives.baselines import MeanStandardDeviation, PredictiveEntropy, VariationRatios
from infoacq.objectives.batchbald import BatchBALD
from infoacq.objectives.directed import ITL, VTL
from infoacq.objectives.epig import EPIG
from infoacq.objectives.gaussian import GaussianBatchBALD
from infoacq.objectives.given import Scores, SetFunction
from infoacq.objectives.joint_predictive_entropy import JointPredictiveEntropy
from infoacq.objectives.multi_output import MultiOutputBatchBALD
from infoacq.objectives.random import Random

__all__ = [
    "BALD",
    "EPIG",
    "ITL",
    "VTL",
    "BatchBALD",
    "GaussianBatchBALD",
    "JointPredictiveEntropy",
    "MeanStandardDeviation",
    "MultiOutputBatchBALD",
    "PredictiveEntropy",
    "Random",
    "Scores",
    "SetFunction",
    "VariationRatios",
]
