"""What a batch is worth: one file a paper."""

from infoacq.objectives.bald import BALD
from infoacq.objectives.baselines import MeanStandardDeviation, PredictiveEntropy, VariationRatios
from infoacq.objectives.batchbald import BatchBALD
from infoacq.objectives.random import Random

__all__ = ["BALD", "BatchBALD", "MeanStandardDeviation", "PredictiveEntropy", "Random", "VariationRatios"]
