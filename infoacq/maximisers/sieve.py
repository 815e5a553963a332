"""SieveStreaming: a batch from one pass over a pool whose shards are loaded once, one after the other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq import checks
from infoacq._arrays import concatenated, resolution, to_host
from infoacq.maximiser import Map
from infoacq.maximisers._sifting import Sieve, sifted, some
from infoacq.maximisers.scoring import Scored, best
from infoacq.objective import Objective, magnitude
from infoacq.pool import Candidates, Pool
from infoacq.selection import Selection


@dataclass(frozen=True)
class Passed:
    """What is remembered of the candidates that have passed: sieves by guess, and those of the largest gains alone."""

    largest: float
    sieves: dict[int, Sieve]
    reserve: Candidates
    alone: Float[np.ndarray, " kept"]


@dataclass(frozen=True)
class SieveStreaming:
    """A batch for each of several guesses of what the best one is worth, all filled in one pass; the best of these.

    A candidate is taken by the batch of guess v if it adds its part of what is lacking to v / 2. For a monotone
    submodular objective the result is worth at least ½ − epsilon of the best batch, in any order of the pool; with
    costs or constraints around the objective nothing is promised. Places that are left free are filled greedily from
    the candidates of the largest gains alone, batch_size of which are remembered. Guesses are a factor
    1 + epsilon apart: about log(2 · batch_size) / epsilon of them.

    Raises:
        TypeError: if `epsilon` is no number.
        ValueError: if it is not above 0 and below ½.

    Source: Badanidiyuru et al. 2014, Streaming submodular maximization: massive data summarization on the fly,
    algorithm 3.
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        checks.real_number(self.epsilon, "epsilon", above=0.0, below=0.5)

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Choose `batch_size` candidates, fewer if the objective rules out (gain −inf) those that are left.

        Raises:
            ValueError: if the objective does not say that it is submodular, or returns a gain that is no number.
        """
        checks.capability(objective, "submodular", "SieveStreaming", "Greedy()")
        rngs, empty, passed = rngs[:batch_size], Sieve(0.0, objective.init(pool)), None
        for shard in pool.shards():
            passed = self._pass(objective, empty, shard.load(), passed, rngs, map)
        assert passed is not None  # a pool has candidates
        best_sieve = max([empty, *passed.sieves.values()], key=lambda sieve: sieve.score)
        filled = _filled(objective, best_sieve, passed.reserve, rngs)
        others = sum(sieve.evaluations for sieve in passed.sieves.values() if sieve is not best_sieve)
        return Selection.of(filled.picks, len(pool) + others + filled.evaluations)

    def _pass(
        self,
        objective: Objective[Any],
        empty: Sieve,
        candidates: Candidates,
        before: Passed | None,
        rngs: Sequence[np.random.Generator],
        map: Map,
    ) -> Passed:
        """What is remembered once these candidates have passed as well."""
        alone = to_host(objective.gains(empty.state, candidates))
        checks.gains(alone, candidates.index, objective)
        largest = max(before.largest if before else 0.0, float(alone.max()))
        old = before.sieves if before else {}
        # A guess that comes late has missed none: no candidate so far was worth enough for it.
        sieves = [
            old.get(i, replace(empty, threshold=(1 + self.epsilon) ** i)) for i in self._guesses(largest, len(rngs))
        ]
        after = map(partial(sifted, objective, candidates, alone, rngs), sieves)
        reserve, of_reserve = _largest_alone(before, candidates, alone, len(rngs))
        return Passed(largest, dict(zip(self._guesses(largest, len(rngs)), after, strict=True)), reserve, of_reserve)

    def _guesses(self, largest: float, batch_size: int) -> range:
        """The powers of 1 + epsilon from the largest single gain to twice batch_size of it."""
        if largest <= 0.0:
            return range(0)
        base = math.log1p(self.epsilon)
        return range(math.ceil(math.log(largest) / base), math.floor(math.log(2 * batch_size * largest) / base) + 1)


def _largest_alone(
    before: Passed | None, candidates: Candidates, alone: Float[np.ndarray, " n"], count: int
) -> tuple[Candidates, Float[np.ndarray, " kept"]]:
    """The `count` candidates of the largest gains alone, of those kept before and these; of equal ones the first."""
    top = np.argsort(-alone, kind="stable")[:count]
    kept, of_kept = some(candidates, top), alone[top]
    if before:
        index = np.concatenate([before.reserve.index, kept.index])
        kept = Candidates(index, concatenated([before.reserve.predictions, kept.predictions]))
        of_kept = np.concatenate([before.alone, of_kept])
    order = np.argsort(-of_kept, kind="stable")[:count]
    return some(kept, order), of_kept[order]


def _filled(objective: Objective[Any], sieve: Sieve, reserve: Candidates, rngs: Sequence[np.random.Generator]) -> Sieve:
    """The sieve with its free places filled greedily from the reserve."""
    while len(sieve.picks) < len(rngs):
        gains = to_host(objective.gains(sieve.state, reserve))
        checks.gains(gains, reserve.index, objective)
        gains[np.isin(reserve.index, [pick.candidate for pick in sieve.picks])] = -np.inf
        at = best(Scored(reserve.index, gains, resolution(reserve.predictions), magnitude(objective)))
        sieve = replace(sieve, evaluations=sieve.evaluations + len(gains))
        if at is None:
            break
        sieve = sieve.taken(objective, some(reserve, np.array([at])), float(gains[at]), rngs)
    return sieve
