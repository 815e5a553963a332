"""How long it takes to score a pool under k draws: naively, with the first part once, and by sub-networks.

Run it as `python -m benchmarks.scoring`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

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
    """What one way of scoring took, and how far its probabilities are from naive repetition's."""

    network: str
    way: str
    images: int
    draws: int
    seconds: float
    us_per_image_and_draw: float
    times_faster: float
    times_one_forward: float
    largest_difference: float


def main(arguments: list[str] | None = None) -> None:
    """Time each network, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="+", choices=tuple(SUBJECTS), default=list(SUBJECTS))
    parser.add_argument("--draws", type=int, default=50)
    parser.add_argument(
        "--images", type=int, help="images of each network (default: 4096 mnist, 2048 emnist, 64 vgg16)"
    )
    parser.add_argument("--repeats", type=int, default=3, help="each time is the shortest of so many")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args(arguments)
    machine = describe(torch.device(options.device))
    print(machine)
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
    """The three ways for one network, naive repetition first: the others are compared with it."""
    some = images[: subject.naive_images]
    forward = shortest(lambda: forwards(model, some), repeats) / len(some)
    naive_seconds = shortest(lambda: by_way(repeat_in_full, model, some, draws), repeats)
    naive_us = naive_seconds / len(some) / draws * 1e6
    naive = by_way(repeat_in_full, model, some[:_CHECKED], draws)
    ways: tuple[tuple[str, int, Callable[[Tensor], Tensor], float | None], ...] = (
        ("naive repetition", len(some), lambda x: by_way(repeat_in_full, model, x, draws), naive_seconds),
        ("first part once", len(some), lambda x: by_way(repeat_with_replay, model, x, draws), None),
        ("predict_probs", len(images), lambda x: by_library(model, x, draws), None),
    )
    for way, count, score, known in ways:
        seconds = known or shortest(lambda score=score, count=count: score(images[:count]), repeats)  # type: ignore[misc]
        each = seconds / count / draws * 1e6
        difference = float((score(some[:_CHECKED]) - naive).abs().max())
        yield Timing(name, way, count, draws, seconds, each, naive_us / each, seconds / count / forward, difference)


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


def describe(device: torch.device) -> str:
    """The card, or the processor and the number of threads; and the version of PyTorch."""
    if device.type == "cuda":
        return f"{torch.cuda.get_device_name(device)}, PyTorch {torch.__version__}"
    info = Path("/proc/cpuinfo")
    names = (
        [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
        if info.exists()
        else []
    )
    processor = names[0] if names else platform.processor() or platform.machine()
    return f"{processor}, {torch.get_num_threads()} threads, PyTorch {torch.__version__}"


def row(timing: Timing) -> str:
    """One line of the table."""
    return (
        f"{timing.network:8} {timing.way:18} {timing.images:5} images x {timing.draws:3} draws {timing.seconds:8.2f} s"
        f"  {timing.us_per_image_and_draw:9.1f} us each  {timing.times_faster:6.1f} x faster"
        f"  {timing.times_one_forward:7.2f} forwards  differs by {timing.largest_difference:.1e}"
    )


if __name__ == "__main__":
    main()
