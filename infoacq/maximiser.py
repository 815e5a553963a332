"""What a maximiser is: an algorithm that chooses a batch through the three verbs of an objective."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from infoacq.objective import Objective
from infoacq.pool import Pool
from infoacq.selection import Selection

Map = Callable[..., Iterable[Any]]
"""Where shards are scored: the built-in map, an executor's. Results come in the order of the shards, as from these."""


@runtime_checkable
class Maximiser(Protocol):
    """An algorithm that chooses a batch through the three verbs of an objective alone."""

    def __call__(
        self,
        objective: Objective[Any],
        pool: Pool,
        batch_size: int,
        rngs: Sequence[np.random.Generator],
        map: Map = map,
    ) -> Selection:
        """Choose `batch_size` candidates; `rngs` has one generator a step.

        Fewer are chosen if the objective rules out (gain −inf) all that are left.
        """
        ...
