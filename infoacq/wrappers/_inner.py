"""What an objective that wraps others asks of these beyond the three verbs, with an answer where they have none."""

import math
from typing import Any

import numpy as np
from jaxtyping import Float

from infoacq._arrays import to_host
from infoacq.objective import Bounded, Estimated, Objective, Reported, Seeded
from infoacq.pool import Candidates, Pool
from infoacq.selection import Selection


def unit(objective: Objective[Any]) -> str:
    """The unit of the objective's gains."""
    return str(getattr(objective, "unit", "nats"))


def outcome(objective: Objective[Any]) -> str:
    """The kind of predictions that the objective reads."""
    return str(getattr(objective, "outcome", "classes"))


def seeded(objective: Objective[Any], rng: np.random.Generator) -> Objective[Any]:
    """The objective with its randomness drawn, if it has any."""
    return objective.seeded(rng) if isinstance(objective, Seeded) else objective


def limit(objective: Objective[Any], pool: Pool) -> float:
    """The most that any batch is worth; infinite if the objective knows of no bound."""
    return objective.limit(pool) if isinstance(objective, Bounded) else math.inf


def standard_errors(objective: Objective[Any], state: Any, candidates: Candidates) -> Float[np.ndarray, " n"]:
    """The standard error of each candidate's gain, 0 if the objective's gains are exact; on the host."""
    if isinstance(objective, Estimated):
        return to_host(objective.standard_errors(state, candidates))
    return np.zeros(len(candidates))


def reported(objective: Objective[Any], selection: Selection) -> Selection:
    """The selection as the objective reports it."""
    return objective.reported(selection) if isinstance(objective, Reported) else selection
