"""How a batch is chosen: one file an algorithm."""

from infoacq.maximisers.budgeted import BudgetedGreedy
from infoacq.maximisers.greedy import Greedy
from infoacq.maximisers.lazy import LazyGreedy
from infoacq.maximisers.must_have import MustHave
from infoacq.maximisers.racing import RacingGreedy
from infoacq.maximisers.sieve import SieveStreaming
from infoacq.maximisers.stochastic import PowerSampling, SoftmaxSampling, SoftRankSampling
from infoacq.maximisers.stochastic_greedy import StochasticGreedy
from infoacq.maximisers.topk import TopK
from infoacq.maximisers.two_rounds import TwoRounds

__all__ = [
    "BudgetedGreedy",
    "Greedy",
    "LazyGreedy",
    "MustHave",
    "PowerSampling",
    "RacingGreedy",
    "SieveStreaming",
    "SoftRankSampling",
    "SoftmaxSampling",
    "StochasticGreedy",
    "TopK",
    "TwoRounds",
]
