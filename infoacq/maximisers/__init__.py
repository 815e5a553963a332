"""How a batch is chosen: one file an algorithm."""

from infoacq.maximisers.greedy import Greedy
from infoacq.maximisers.lazy import LazyGreedy
from infoacq.maximisers.stochastic import PowerSampling, SoftmaxSampling, SoftRankSampling
from infoacq.maximisers.topk import TopK

__all__ = ["Greedy", "LazyGreedy", "PowerSampling", "SoftRankSampling", "SoftmaxSampling", "TopK"]
