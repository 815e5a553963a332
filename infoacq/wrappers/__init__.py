"""Objectives around other objectives: costs, constraints and sums."""

from infoacq.wrappers.constrained import Constrained
from infoacq.wrappers.constraints import AtMostPerGroup, Budget, Constraint, MustNotHave
from infoacq.wrappers.cost_aware import CostAware
from infoacq.wrappers.weighted_sum import WeightedSum

__all__ = ["AtMostPerGroup", "Budget", "Constrained", "Constraint", "CostAware", "MustNotHave", "WeightedSum"]
