"""The cases of the comparison, each a size of the job, and the sweeps along one axis."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Case:
    """How many of what there are; `configurations` is 0 where each chooser has its own default."""

    candidates: int
    draws: int
    classes: int
    batch_size: int
    configurations: int = 0

    @classmethod
    def parsed(cls, name: str) -> "Case":
        """The case that is written CANDIDATESxDRAWSxCLASSESxBATCH[@CONFIGURATIONS].

        Raises:
            ValueError: if it is not.
        """
        sizes, _, configurations = name.partition("@")
        try:
            candidates, draws, classes, batch_size = (int(size) for size in sizes.split("x"))
            return cls(candidates, draws, classes, batch_size, int(configurations or 0))
        except ValueError:
            raise ValueError(
                f"a case is CANDIDATESxDRAWSxCLASSESxBATCH, such as 4000x100x10x10; got {name!r}"
            ) from None

    @property
    def name(self) -> str:
        """As it is written."""
        sizes = f"{self.candidates}x{self.draws}x{self.classes}x{self.batch_size}"
        return f"{sizes}@{self.configurations}" if self.configurations else sizes

    @property
    def work(self) -> int:
        """What plain greedy evaluates, up to a factor."""
        return self.candidates * self.draws * self.classes * self.batch_size * (self.configurations or 10_000)


SWEEPS: dict[str, tuple[str, ...]] = {
    "pool": ("1000x100x10x10", "4000x100x10x10", "20000x100x10x10", "60000x100x10x10"),
    "batch": ("4000x100x10x5", "4000x100x10x10", "4000x100x10x20", "4000x100x10x50"),
    "draws": ("4000x10x10x10", "4000x20x10x10", "4000x50x10x10", "4000x100x10x10"),
    "classes": ("4000x10x2x10", "4000x10x10x10", "4000x10x47x10", "4000x10x100x10"),
    "configurations": tuple(f"4000x100x10x10@{count}" for count in (1_000, 4_000, 10_000, 40_000)),
}
