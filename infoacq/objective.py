"""What an objective is: three verbs on an explicit state, and what it may say of itself beyond them."""

from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float

from infoacq._arrays import Array
from infoacq.pool import Candidates, Pool
from infoacq.selection import Selection

State = TypeVar("State")


@runtime_checkable
class Objective(Protocol[State]):
    """The value of a batch, given by what one more candidate adds to it.

    A class of a user's own needs no base class. It may carry class attributes that are facts about it:
    `modular = True` if a gain never depends on what else was chosen, `submodular = True` if a gain never grows as
    the batch does; maximisers that rely on one refuse objectives that do not say so. `unit` is "nats" unless said.
    `outcome` says what predictions it reads: "classes" (n, k, c) unless said, "outputs", "values" or "any".
    `magnitude` is the size of the numbers whose differences its gains are, so that what is nearer than their rounding
    is equal: 1 unless said for gains from class probabilities, which are differences of entropies, otherwise 0, that
    of the gains themselves.
    """

    def init(self, pool: Pool) -> State:
        """The state of the empty batch."""
        ...

    def gains(self, state: State, candidates: Candidates) -> Float[Array, " n"]:
        """What each candidate would add to the batch (nats). A pure function of its arguments."""
        ...

    def update(self, state: State, chosen: Candidates, rng: np.random.Generator) -> State:
        """The state of the batch with `chosen` added. The old state stays as it was."""
        ...


@runtime_checkable
class Estimated(Protocol):
    """An objective whose gains are Monte-Carlo estimates."""

    def standard_errors(self, state: Any, candidates: Candidates) -> Float[Array, " n"]:
        """The standard error of each candidate's gain (nats), 0 where it is exact."""
        ...


@runtime_checkable
class Raced(Protocol):
    """An objective whose gains are sums over configurations, of which a sample can be compared first."""

    def sketch(self, state: Any, size: int, rng: np.random.Generator) -> Any:
        """The state on a sample of about `size` configurations; the state itself if that would save little."""
        ...

    def differences(
        self, state: Any, candidates: Candidates, reference: Candidates
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Each candidate's gain less that of the one reference, and the standard error of this difference."""
        ...


@runtime_checkable
class Exhaustible(Protocol):
    """An objective that knows how much is left to gain."""

    def remaining(self, state: Any) -> float:
        """The most that any more candidates can add to the batch (nats); infinite if that is not known."""
        ...


@runtime_checkable
class Bounded(Protocol):
    """An objective whose value no batch can exceed."""

    def limit(self, pool: Pool) -> float:
        """The most that any batch is worth (nats); infinite if there is no such bound."""
        ...


@runtime_checkable
class Reported(Protocol):
    """An objective that ranks candidates by another measure than the one that its batch is worth."""

    def reported(self, selection: Selection) -> Selection:
        """The selection with gains and standard errors in the measure that the batch is worth."""
        ...


@runtime_checkable
class Seeded(Protocol):
    """An objective that is itself random."""

    def seeded(self, rng: np.random.Generator) -> "Objective[Any]":
        """The objective with its randomness drawn: from here on a pure function."""
        ...


def magnitude(objective: object) -> float:
    """The size of the numbers whose differences the objective's gains are; 0: the gains' own."""
    of_entropies = getattr(objective, "outcome", "classes") in ("classes", "outputs")
    return float(getattr(objective, "magnitude", 1.0 if of_entropies else 0.0))


def is_modular(objective: object) -> bool:
    """Whether the objective says that gains never depend on what else was chosen."""
    return bool(getattr(objective, "modular", False))


def is_submodular(objective: object) -> bool:
    """Whether the objective says that gains never grow as the batch does."""
    return is_modular(objective) or bool(getattr(objective, "submodular", False))


def is_raced(objective: object) -> bool:
    """Whether the objective can compare candidates on a sample; a wrapper can if what it wraps can."""
    return isinstance(objective, Raced) and bool(getattr(objective, "raced", True))
