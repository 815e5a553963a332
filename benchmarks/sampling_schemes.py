"""Which configurations to keep when there are too many: the error of gains by each scheme, for equally many of them.

    INFOACQ_SHARED=… python -m benchmarks.sampling_schemes

A greedy batch of ten is followed point by point. Whenever there are more joint labels than `--configurations`, a scheme
thins them, and the gains of fifty candidates are compared with the mean of ten estimates on a hundred thousand
configurations each, kept by importance: by the table itself as good as tens of millions drawn independently. Figures
are root mean square errors over seeds and over the three tenths of the candidates with the largest gains (nats).
"""

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int
from tqdm import tqdm

from benchmarks.machine import described
from benchmarks.predictions import predictions
from infoacq import BatchBALD, _kernels, select_batch
from infoacq.configurations import Configurations, normalised
from infoacq.sampling import Kept, thinned

RESULTS = Path(__file__).parent / "results" / "sampling_schemes.json"
Scheme = Callable[[np.ndarray, np.ndarray, int, np.random.Generator], Kept]


def main() -> None:
    """Measure each scheme, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configurations", type=int, nargs="+", default=[1_000, 4_000])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--reference", type=int, default=100_000, help="configurations of one of the ten references")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args()
    source, probs = predictions(4_000, 100, 10)
    batch = select_batch(probs, BatchBALD(), 10, seed=0).indices
    others = np.random.default_rng(1).choice(len(probs), 40, replace=False)
    p = probs.astype(np.float64)
    points, candidates = normalised(p[batch]), normalised(p[np.concatenate([batch, others])])
    seeds = tqdm(range(1_000, 1_010), desc="reference")
    true = np.mean([_gains(thinned, points, candidates, options.reference, seed) for seed in seeds], axis=0)
    rows = []
    for count in options.configurations:
        for name, scheme in SCHEMES.items():
            errors = _errors(scheme, points, candidates, count, options.seeds, true)
            print(f"{count:6} {name:34}", *(f"{1e3 * error:7.3f}" for error in errors), " (10⁻³ nats, by pick)")
            rows.append({"configurations": count, "scheme": name, "errors": list(errors)})
    report = {"machine": described(), "source": source, "seeds": options.seeds, "rows": rows}
    options.out.write_text(json.dumps(report, indent=1) + "\n")


def _errors(
    scheme: Scheme, points: np.ndarray, candidates: np.ndarray, count: int, seeds: int, true: Float[np.ndarray, "s n"]
) -> list[float]:
    """The root mean square error after each point (nats)."""
    each = np.array([_gains(scheme, points, candidates, count, seed) - true for seed in range(seeds)])
    large = true >= np.quantile(true, 0.7, axis=1, keepdims=True)
    return [float(np.sqrt(np.mean(each[:, step][:, large[step]] ** 2))) for step in range(len(points))]


def _gains(
    scheme: Scheme, points: np.ndarray, candidates: np.ndarray, count: int, seed: int
) -> Float[np.ndarray, "s n"]:
    """The information of each candidate after one point, two points, …, on at most `count` configurations."""
    draws = points.shape[1]
    start = Configurations(np.full((1, draws), 1.0 / draws), np.ones(1), like=points[0, :1, 0])
    entropies = _kernels.draw_entropies(candidates)
    return np.array(
        [
            _kernels.information(candidates, entropies, now.posteriors, now.masses, now.masses @ now.posteriors)
            for now in _followed(scheme, start, points, count, np.random.default_rng(seed))
        ]
    )


def _followed(
    scheme: Scheme, now: Configurations, points: np.ndarray, count: int, rng: np.random.Generator
) -> Iterator[Configurations]:
    for point in points:
        q = now.predictive(point)
        masses = (now.masses[:, None] * q).ravel()
        squares = (now.posteriors**2 @ point**2) / np.where(q > 0, q, 1.0) ** 2
        kept = scheme(masses, np.clip(1.0 - squares, 0.0, 1.0).ravel(), count, rng)
        parents, labels = np.divmod(kept.positions, q.shape[1])
        now = now.labelled(point, parents, labels, kept.masses, kept.settled)
        yield now


def independent(masses: np.ndarray, impurities: np.ndarray, count: int, rng: np.random.Generator) -> Kept:
    """Each drawn by mass, independently of the others, as in the paper."""
    return _drawn(masses, rng.choice(len(masses), count, p=masses / masses.sum()), count)


def stratified(masses: np.ndarray, impurities: np.ndarray, count: int, rng: np.random.Generator) -> Kept:
    """One drawn by mass from each of as many strata of the cumulated mass."""
    return _drawn(masses, _located(masses, np.arange(count) + rng.random(count)), count)


def systematic(masses: np.ndarray, impurities: np.ndarray, count: int, rng: np.random.Generator) -> Kept:
    """At equal steps of the cumulated mass."""
    return _drawn(masses, _located(masses, np.arange(count) + rng.random()), count)


def systematic_sorted(masses: np.ndarray, impurities: np.ndarray, count: int, rng: np.random.Generator) -> Kept:
    """At equal steps of the cumulated mass in the order of how undecided each configuration is."""
    order = np.argsort(impurities, kind="stable")
    return _drawn(masses, order[_located(masses[order], np.arange(count) + rng.random())], count)


def likely_and_sorted(masses: np.ndarray, impurities: np.ndarray, count: int, rng: np.random.Generator) -> Kept:
    """The likely ones with their own mass; of the rest a systematic sample by mass, sorted."""
    if len(masses) <= count:
        return Kept(np.arange(len(masses)), masses, len(masses))
    order = np.argsort(-masses, kind="stable")
    tails = masses.sum() - np.concatenate([[0.0], np.cumsum(masses[order])[: count - 1]])
    steps = tails / (count - np.arange(count))
    heavy = int(np.argmax(masses[order][:count] <= steps))
    rest = order[heavy:][np.argsort(impurities[order[heavy:]], kind="stable")]
    drawn = rest[_located(masses[rest], np.arange(count - heavy) + rng.random())]
    kept = np.concatenate([masses[order[:heavy]], np.full(count - heavy, masses[rest].sum() / (count - heavy))])
    return Kept(np.concatenate([order[:heavy], drawn]), kept, heavy)


SCHEMES: dict[str, Scheme] = {
    "independent (the paper)": independent,
    "stratified": stratified,
    "systematic": systematic,
    "systematic, sorted": systematic_sorted,
    "likely kept, rest sorted": likely_and_sorted,
    "by importance (the library)": thinned,
}


def _drawn(masses: np.ndarray, positions: Int[np.ndarray, " count"], count: int) -> Kept:
    if len(masses) <= count:
        return Kept(np.arange(len(masses)), masses, len(masses))
    return Kept(positions, np.full(count, masses.sum() / count), 0)


def _located(weights: np.ndarray, points: np.ndarray) -> Int[np.ndarray, " count"]:
    cumulated = np.cumsum(weights)
    last = int(np.searchsorted(cumulated, cumulated[-1]))
    found: np.ndarray = np.searchsorted(cumulated, points * (cumulated[-1] / len(points)), side="right")
    return np.asarray(np.minimum(found, last))


if __name__ == "__main__":
    main()
