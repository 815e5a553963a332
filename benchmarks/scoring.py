"""How long it takes to score a pool under k draws.

Dropout left on, as is usual, k passes over each batch; the same with consistent masks; with the first part once; and by
the library, which runs sub-networks. All go by batches of 256. One plain forward pass goes over the same images as the
library and in turn with it. The other ways are timed on fewer images, and where repetition would take minutes, on fewer
passes: times are then scaled to all draws, and the table says so.

Run it as `python -m benchmarks.scoring`, on another device with `--device`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from benchmarks.machine import described
from benchmarks.scoring_networks import SUBJECTS, Subject
from infoacq.posteriors import mc_dropout
from infoacq.posteriors._masked import MaskedModel, masked
from infoacq.posteriors._replay import repeat_with_replay
from infoacq.posteriors._scorers import repeat_in_full

RESULTS = Path(__file__).parent / "results"
_BATCH = 256
_CHECKED = 64  # images on which the ways are compared
Way = Callable[[MaskedModel, Iterable[Tensor], int], Iterator[Tensor]]


@dataclass(frozen=True)
class Timing:
    """What one way of scoring took, and how far its probabilities are from full passes under the same masks.

    `seconds` are those of `timed_draws` draws of `images` images; ratios are of as many images and `draws` draws.
    """

    network: str
    way: str
    images: int
    draws: int
    timed_draws: int
    seconds: float
    us_per_image_and_draw: float
    us_per_image_forward: float  # of one plain pass over the library's images
    times_faster: float
    times_one_forward: float
    largest_difference: float | None  # None: under other masks


@dataclass(frozen=True)
class _Scoring:
    name: str
    images: Tensor
    draws: int
    score: Callable[[Tensor, int], Tensor]  # probabilities of images under so many draws


def main(arguments: list[str] | None = None) -> None:
    """Time each network, print a table, write JSON."""
    options = _options(arguments)
    machine = described(options.device) | {"threads": str(torch.get_num_threads()), "device": options.device}
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


def _options(arguments: list[str] | None) -> argparse.Namespace:
    defaults = ", ".join(f"{subject.images} {name}" for name, subject in SUBJECTS.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=tuple(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument("--images", type=int, help=f"images of each network (default: {defaults})")
    parser.add_argument("--repeats", type=int, default=3, help="each time is the shortest of so many")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, help="JSON (default: results/scoring.json; of a card scoring-cuda.json)")
    options = parser.parse_args(arguments)
    kind = torch.device(options.device).type
    options.out = options.out or RESULTS / ("scoring.json" if kind == "cpu" else f"scoring-{kind}.json")
    return options


def time_ways(
    name: str, subject: Subject, model: nn.Module, images: Tensor, draws: int, repeats: int
) -> Iterator[Timing]:
    """The ways for one network, dropout left on first: the others are compared with it."""
    ways = _ways(subject, model, images, draws)
    in_full = by_way(repeat_in_full, model, ways[0].images[:_CHECKED], draws)
    differences = [None, *(_difference(way, in_full) for way in ways[1:])]  # before timing: kernels are compiled here
    # The forward pass is next to the library, which comes last: where a machine's speed varies, it does so for both.
    runs = (*(partial(way.score, way.images, way.draws) for way in ways), partial(forwards, model, images))
    *times, forward = shortest(runs, repeats)
    forward *= 1e6 / len(images)
    each = [seconds / len(way.images) / way.draws * 1e6 for way, seconds in zip(ways, times, strict=True)]
    for way, seconds, us, difference in zip(ways, times, each, differences, strict=True):
        counts = len(way.images), draws, way.draws
        yield Timing(name, way.name, *counts, seconds, us, forward, each[0] / us, us * draws / forward, difference)


def _ways(subject: Subject, model: nn.Module, images: Tensor, draws: int) -> tuple[_Scoring, ...]:
    some, passes = images[: subject.naive_images], min(draws, subject.naive_passes or draws)
    return (
        _Scoring("dropout left on", some, passes, partial(by_dropout_left_on, model)),
        _Scoring("consistent masks", some, passes, partial(by_way, repeat_in_full, model)),
        # All draws, as what is run once for all of them is part of each one's time.
        _Scoring("first part once", some, draws, partial(by_way, repeat_with_replay, model)),
        _Scoring("predict_probs", images, draws, partial(by_library, model)),
    )


def _difference(way: _Scoring, in_full: Tensor) -> float:
    """The largest from the probabilities of full passes; the first draws are the same, however many there are."""
    probs = way.score(way.images[: len(in_full)], way.draws)
    return float((probs - in_full[:, : way.draws]).abs().max())


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


def shortest(runs: Iterable[Callable[[], Tensor]], repeats: int) -> list[float]:
    """The shortest time of each (s), measured in turn; results come to the CPU, so a GPU has finished."""
    times: list[tuple[Callable[[], Tensor], list[float]]] = [(run, []) for run in runs]
    for _ in range(repeats):
        for run, taken in times:
            start = time.perf_counter()
            run()
            taken.append(time.perf_counter() - start)
    return [min(taken) for _, taken in times]


def row(timing: Timing) -> str:
    """One line of the table."""
    timed = "" if timing.timed_draws == timing.draws else f" (of {timing.timed_draws} draws, the rest in proportion)"
    return (
        f"{timing.network:8} {timing.way:18} {timing.images:5} images x {timing.draws:3} draws"
        f" {timing.seconds * timing.draws / timing.timed_draws:8.2f} s"
        f"  {timing.us_per_image_and_draw:9.1f} us each  {timing.times_faster:6.1f} x faster"
        f"  {timing.times_one_forward:7.2f} forwards"
        + ("" if timing.largest_difference is None else f"  differs by {timing.largest_difference:.1e}")
        + timed
    )


if __name__ == "__main__":
    main()
