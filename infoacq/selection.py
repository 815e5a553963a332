"""What a selection returns: the chosen positions, what each added, and how far the numbers can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

# A batch whose value is this near the most that any batch could be worth says that more draws are needed.
SATURATION = 0.95


class SaturationWarning(UserWarning):
    """The batch tells nearly all there is to tell the draws apart: later picks are ranked by noise."""


class Pick(NamedTuple):
    """One chosen candidate: its position, its gain and the gain's standard error."""

    candidate: int
    gain: float
    standard_error: float


@dataclass(frozen=True)
class Selection:
    """A chosen batch, in pick order.

    Attributes:
        indices: the positions in the pool.
        gains: what each pick added to those before it, in `unit`.
        standard_errors: the Monte-Carlo standard error of each gain, 0 where it is exact.
        evaluations: how many gains of single candidates were computed.
        unit: the unit of gains and scores.
        limit: the most that any batch could be worth, such as log k; None if there is no such bound.
        conditioned: what the pending candidates were worth before the first pick.
    """

    indices: list[int]
    gains: list[float]
    standard_errors: list[float]
    evaluations: int
    unit: str = "nats"
    limit: float | None = None
    conditioned: float = 0.0

    @classmethod
    def of(cls, picks: Sequence[Pick], evaluations: int) -> "Selection":
        """The selection of these picks."""
        return cls(
            [pick.candidate for pick in picks],
            [pick.gain for pick in picks],
            [pick.standard_error for pick in picks],
            evaluations,
        )

    def followed_by(self, other: "Selection") -> "Selection":
        """This selection and then `other`, which was chosen given it."""
        return replace(
            self,
            indices=self.indices + other.indices,
            gains=self.gains + other.gains,
            standard_errors=self.standard_errors + other.standard_errors,
            evaluations=self.evaluations + other.evaluations,
        )

    @property
    def scores(self) -> list[float]:
        """The value of the batch after each pick: the running sum of the gains."""
        return list(accumulate(self.gains))

    @property
    def saturated_from(self) -> int | None:
        """The first pick, from 0, whose score is within 5 % of the limit; None if there is none."""
        if self.limit is None:
            return None
        reached = (i for i, s in enumerate(self.scores) if self.conditioned + s >= SATURATION * self.limit)
        return next(reached, None)

    def __len__(self) -> int:
        return len(self.indices)

    def __str__(self) -> str:
        columns = zip(self.indices, self.gains, self.standard_errors, self.scores, strict=True)
        lines = [f"pick  candidate     gain   ± s.e.    score  ({self.unit})"]
        lines += [f"{i:>4}  {n:>9}  {g:>7.4f}  {e:>7.4f}  {s:>7.4f}" for i, (n, g, e, s) in enumerate(columns)]
        lines.append(f"{self.evaluations:,} gains of single candidates evaluated")
        if self.conditioned:
            lines.append(f"not counted: {self.conditioned:.4f} {self.unit} that the pending candidates are worth")
        if self.limit is not None:
            lines.append(f"no batch is worth more than {self.limit:.4f} {self.unit}")
        if self.saturated_from is not None:
            lines.append(
                f"saturated from pick {self.saturated_from} on: the draws are all but told apart and the "
                "ranking is noise; use more draws"
            )
        return "\n".join(lines)
