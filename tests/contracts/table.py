"""Every objective and every maximiser, one row each: a new one joins every test of this folder with its row."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from infoacq import (
    BALD,
    BatchBALD,
    Candidates,
    Greedy,
    LazyGreedy,
    MeanStandardDeviation,
    PredictiveEntropy,
    Random,
    TopK,
    VariationRatios,
)
from infoacq.maximisers import (
    PowerSampling,
    RacingGreedy,
    SieveStreaming,
    SoftmaxSampling,
    SoftRankSampling,
    StochasticGreedy,
    TwoRounds,
)
from infoacq.objective import is_modular, is_raced, is_submodular
from infoacq.objectives import EPIG, JointPredictiveEntropy, Scores, SetFunction
from infoacq.wrappers import WeightedSum
from tests import oracles
from tests.backends import numpy
from tests.contracts.own import Charged, Keyed
from tests.oracles import Point
from tests.predictions import STANDARD, dyadic

KEY = 20
DRAWS = STANDARD[1]
TARGETS = dyadic(99, 2, DRAWS, 2)


@dataclass(frozen=True)
class ObjectiveRow:
    """One objective, made with arrays of a maker's, and the value of a batch by the oracle: of a pool and positions."""

    name: str
    make: Callable[[Callable[[np.ndarray], Any]], Any]
    value: Callable[[Sequence[Point], Sequence[int]], float]
    sampled: bool = False  # its gains are estimates on this folder's pools
    by_position: bool = False  # its gains depend on where in the pool a candidate is

    def __str__(self) -> str:
        return self.name

    @property
    def objective(self) -> Any:
        """The objective for NumPy's arrays."""
        return self.make(np.asarray)


def each(oracle: Callable[[Point], float]) -> Callable[[Sequence[Point], Sequence[int]], float]:
    """The value of a batch whose points count one by one."""
    return lambda pool, batch: math.fsum(oracle(pool[i]) for i in batch)


def jointly(oracle: Callable[[Sequence[Point]], float]) -> Callable[[Sequence[Point], Sequence[int]], float]:
    """The value of a batch whose points count together."""
    return lambda pool, batch: oracle([pool[i] for i in batch])


def costly_batchbald(pool: Sequence[Point], batch: Sequence[int]) -> float:
    return jointly(oracles.batchbald)(pool, batch) - 0.1 * len(batch)


def epig(pool: Sequence[Point], batch: Sequence[int]) -> float:
    points = [pool[i] for i in batch]
    told = [oracles.joint_entropy([t]) - oracles.conditional_entropy(points, t) for t in TARGETS.tolist()]
    return math.fsum(told) / len(told)


def numbers(pool: Sequence[Point], batch: Sequence[int]) -> float:
    return math.fsum(oracles.splitmix64(KEY, i) for i in batch)


def first_class(candidates: Candidates) -> np.ndarray:
    """A score of a user's: the mean probability of class 0."""
    return numpy(candidates.predictions)[:, :, 0].mean(axis=1)


def coverage(positions: tuple[int, ...]) -> float:
    """A set function of a user's: how many of three neighbours on a circle of 7 are reached; it depends on position."""
    return float(len({(i + step) % 7 for i in positions for step in range(3)}))


def covered(pool: Sequence[Point], batch: Sequence[int]) -> float:
    return coverage(tuple(batch))


def summed(pool: Sequence[Point], batch: Sequence[int]) -> float:
    return 0.5 * jointly(oracles.batchbald)(pool, batch) + 2.0 * each(oracles.variation_ratio)(pool, batch)


OBJECTIVES = [
    ObjectiveRow("BALD", lambda _: BALD(), each(oracles.bald)),
    ObjectiveRow("BatchBALD", lambda _: BatchBALD(), jointly(oracles.batchbald)),
    ObjectiveRow("BatchBALD-sampled", lambda _: BatchBALD(20), jointly(oracles.batchbald), sampled=True),
    ObjectiveRow("Charged", lambda _: Charged(BatchBALD(), cost=0.1), costly_batchbald),
    ObjectiveRow("EPIG", lambda array: EPIG(array(TARGETS)), epig),
    ObjectiveRow("JointPredictiveEntropy", lambda _: JointPredictiveEntropy(), jointly(oracles.joint_entropy)),
    ObjectiveRow("MeanStandardDeviation", lambda _: MeanStandardDeviation(), each(oracles.mean_standard_deviation)),
    ObjectiveRow("PredictiveEntropy", lambda _: PredictiveEntropy(), each(oracles.predictive_entropy)),
    ObjectiveRow("Random", lambda _: Keyed(Random(KEY)), numbers, by_position=True),
    ObjectiveRow("Scores", lambda _: Scores(first_class), each(lambda p: oracles.mean_prediction(p)[0])),
    ObjectiveRow(
        "SetFunction",
        lambda _: SetFunction(coverage, submodular=True),
        lambda _, batch: coverage(batch),
        by_position=True,
    ),
    ObjectiveRow("WeightedSum", lambda _: WeightedSum((BatchBALD(), VariationRatios()), (0.5, 2.0)), summed),
    ObjectiveRow("VariationRatios", lambda _: VariationRatios(), each(oracles.variation_ratio)),
]


@dataclass(frozen=True)
class MaximiserRow:
    """One maximiser, and which objectives it takes."""

    name: str
    maximiser: Any
    takes: Callable[[object], bool]
    random: bool = False  # it draws the batch, or takes candidates as they come, instead of the best

    def __str__(self) -> str:
        return self.name


MAXIMISERS = [
    MaximiserRow("TopK", TopK(), is_modular),
    MaximiserRow("Greedy", Greedy(), lambda objective: True),
    MaximiserRow("LazyGreedy", LazyGreedy(), is_submodular),
    MaximiserRow("LazyGreedy-2", LazyGreedy(first=2), is_submodular),
    MaximiserRow("PowerSampling", PowerSampling(), lambda objective: not isinstance(objective, Charged), random=True),
    MaximiserRow("SieveStreaming", SieveStreaming(), lambda o: is_submodular(o) and not isinstance(o, Charged), True),
    MaximiserRow("RacingGreedy", RacingGreedy(), lambda objective: is_submodular(objective) and is_raced(objective)),
    MaximiserRow("SoftRankSampling", SoftRankSampling(), lambda objective: True, random=True),
    MaximiserRow("SoftmaxSampling", SoftmaxSampling(), lambda objective: True, random=True),
    MaximiserRow("StochasticGreedy", StochasticGreedy(), lambda objective: True, random=True),
    MaximiserRow("TwoRounds", TwoRounds(), is_submodular, random=True),
]


def pairs(random: bool) -> list[Any]:
    """Every maximiser with every objective that it takes, as parameters of a test."""
    return [
        pytest.param(row, maximiser.maximiser, id=f"{row}-{maximiser}")
        for row, maximiser in product(OBJECTIVES, MAXIMISERS)
        if maximiser.random == random and maximiser.takes(row.objective)
    ]


GREEDY_PAIRS = pairs(random=False)
PAIRS = GREEDY_PAIRS + pairs(random=True)
