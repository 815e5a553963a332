"""How long it takes to score a pool under k draws.

Dropout left on, as is usual, k passes over each batch; the same with consistent masks; with the first part once; and by
the library, which runs sub-networks.

Run it as `python -m benchmarks.scoring`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.machine import described
from benchmarks.scoring_networks import SUBJECTS, Subject
from infoacq.posteriors import mc_dropout
from infoacq.posteriors._masked import MaskedModel, masked
from infoacq.posteriors._replay import repeat_with_replay
from infoacq.posteriors._scorers import repeat_in_full

RESULTS = Path(__file__).parent / "results" / "scoring.json"
_BATCH = 256
_CHECKED = 64  # images on which the ways are compared
Way = Callable[[MaskedModel, Iterable[Tensor], int], Iterator[Tensor]]


@dataclass(frozen=True)
class Timing:
    """What one way of scoring took, and how far its probabilities are from full passes under the same masks."""

    network: str
    way: str
    images: int
    draws: int
    seconds: float
    us_per_image_and_draw: float
    times_faster: float
    times_one_forward: float
    largest_difference: float | None  # None: under other masks


def main(arguments: list[str] | None = None) -> None:
    """Time each network, print a table, write JSON."""
    defaults = ", ".join(f"{subject.images} {name}" for name, subject in SUBJECTS.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=tuple(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--images", type=int, help=f"images of each network (default: {defaults})")
    parser.add_argument("--repeats", type=int, default=3, help="each time is the shortest of so many")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args(arguments)
    machine = described() | {"threads": str(torch.get_num_threads()), "device": options.device}
    print(", ".join(f"{name} {value}" for name, value in machine.items()))
    timings = []
    for name in options.networks:
        subject = SUBJECTS[name]
        images = subject.inputs()[: options.images].to(options.device)
        model = subject.build().to(options.device)
        for timing in time_ways(name, subject, model, images, options.draws, options.repeats):
            print(row(timing), flush=True)
            timings.append(timing)
    report = {"machine": machine, "load_average": os.getloadavg(), "timings": [asdict(t) for t in timings]}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(f"written to {options.out}")


def time_ways(
    name: str, subject: Subject, model: nn.Module, images: Tensor, draws: int, repeats: int
) -> Iterator[Timing]:
    """The ways for one network, dropout left on first: the others are compared with it."""
    some = images[: subject.naive_images]
    forward = shortest(lambda: forwards(model, some), repeats) / len(some)
    in_full = by_way(repeat_in_full, model, some[:_CHECKED], draws)
    ways: tuple[tuple[str, Tensor, Callable[[Tensor], Tensor]], ...] = (
        ("dropout left on", some, lambda x: by_dropout_left_on(model, x, draws)),
        ("consistent masks", some, lambda x: by_way(repeat_in_full, model, x, draws)),
        ("first part once", some, lambda x: by_way(repeat_with_replay, model, x, draws)),
        ("predict_probs", images, lambda x: by_library(model, x, draws)),
    )
    usual = None
    for way, scored, score in ways:
        seconds = shortest(lambda score=score, scored=scored: score(scored), repeats)  # type: ignore[misc]
        each = seconds / len(scored) / draws * 1e6
        usual = usual or each
        difference = None if way == "dropout left on" else float((score(some[:_CHECKED]) - in_full).abs().max())
        yield Timing(
            name, way, len(scored), draws, seconds, each, usual / each, seconds / len(scored) / forward, difference
        )


def by_dropout_left_on(model: nn.Module, images: Tensor, draws: int) -> Tensor:
    """Probabilities of so many passes over each batch, each with masks of its own."""
    model.eval()
    for layer in model.modules():
        if isinstance(layer, (nn.Dropout, nn.Dropout2d)):
            layer.train()
    with torch.no_grad():
        batches = [
            torch.stack([model(batch).softmax(dim=-1) for _ in range(draws)], dim=1)
            for batch in torch.split(images, _BATCH)
        ]
    model.eval()
    return torch.cat(batches).cpu()


def forwards(model: nn.Module, images: Tensor) -> Tensor:
    """One plain forward pass, without any draw."""
    model.eval()
    with torch.no_grad():
        return torch.cat([model(batch) for batch in torch.split(images, _BATCH)]).cpu()


def by_way(way: Way, model: nn.Module, images: Tensor, draws: int) -> Tensor:
    """Probabilities by one of the library's inner ways."""
    with torch.no_grad(), masked(model, seed=0) as runner:
        return torch.cat([scores.softmax(dim=-1).cpu() for scores in way(runner, torch.split(images, _BATCH), draws)])


def by_library(model: nn.Module, images: Tensor, draws: int) -> Tensor:
    """Probabilities as a user gets them."""
    return mc_dropout.predict_probs(model, images, draws, seed=0, progress=False)


def shortest(run: Callable[[], Tensor], repeats: int) -> float:
    """The shortest time of several runs, in seconds; results come to the CPU, so a GPU has finished."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def row(timing: Timing) -> str:
    """One line of the table."""
    return (
        f"{timing.network:8} {timing.way:18} {timing.images:5} images x {timing.draws:3} draws {timing.seconds:8.2f} s"
        f"  {timing.us_per_image_and_draw:9.1f} us each  {timing.times_faster:6.1f} x faster"
        f"  {timing.times_one_forward:7.2f} forwards"
        + ("" if timing.largest_difference is None else f"  differs by {timing.largest_difference:.1e}")
    )


if __name__ == "__main__":
    main()
