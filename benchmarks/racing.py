"""How sure a raced choice is, and what it saves: the chance of dropping the best candidate against z.

    INFOACQ_SHARED=… python -m benchmarks.racing

A greedy batch is followed to its sixth pick, where gains are sampled and many candidates are close. There the best
candidate races, on many samples of 32 and of 128 configurations, against the runner-up, the hardest reference there is:
a drop is counted when the difference plus z standard errors is negative. Beside it, for whole batches: what racing
chose and how much it lost, against lazy evaluation on the same configurations.
"""

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
from tqdm import tqdm

from benchmarks.machine import described
from benchmarks.predictions import predictions
from infoacq import BatchBALD, LazyGreedy, select_batch
from infoacq.maximisers import RacingGreedy
from infoacq.pool import from_probs

RESULTS = Path(__file__).parent / "results" / "racing.json"
ZS = (1.0, 2.0, 3.0, 4.0)
FOLLOWED = 5


@dataclass(frozen=True)
class Row:
    """One z: how often the best was dropped, and whole batches beside those of lazy evaluation (nats)."""

    z: float
    said: float
    dropped_of_32: float
    dropped_of_128: float
    same_picks: float
    lost: float
    evaluations: float


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=2_000, help="races of the best against the runner-up")
    parser.add_argument("--seeds", type=int, default=10, help="whole batches")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args()
    source, probs = predictions(4_000, 100, 10)
    differences = {size: _differences(probs, size, options.samples) for size in (32, 128)}
    lazy = [_batch(probs, LazyGreedy(), seed) for seed in range(options.seeds)]
    rows = []
    for z in ZS:
        raced = [_batch(probs, RacingGreedy(z=z), seed) for seed in range(options.seeds)]
        dropped = [float(np.mean(d + z * e < 0)) for d, e in differences.values()]
        same = np.mean([np.equal(r[0], w[0]) for r, w in zip(raced, lazy, strict=True)])
        lost = np.mean([w[1] - r[1] for r, w in zip(raced, lazy, strict=True)])
        evaluations = np.mean([r[2] / w[2] for r, w in zip(raced, lazy, strict=True)])
        row = Row(z, NormalDist().cdf(-z), dropped[0], dropped[1], float(same), float(lost), float(evaluations))
        print(
            f"z = {z:g}: said {row.said:.5f}, dropped {dropped[0]:.5f} (of 32) {dropped[1]:.5f} (of 128), "
            f"same picks {same:.1%}, lost {lost:.5f} nats, gains evaluated {evaluations:.2f} x lazy's",
            flush=True,
        )
        rows.append(asdict(row))
    report = {"machine": described(), "source": source, "samples": options.samples, "rows": rows}
    options.out.write_text(json.dumps(report, indent=1) + "\n")


def _differences(probs: np.ndarray, size: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """The best candidate's gain less the runner-up's in samples of the configurations, and what errors are said."""
    objective, pool = BatchBALD(10_000), from_probs(probs)
    state = objective.init(pool)
    for step, i in enumerate(select_batch(pool, objective, FOLLOWED, maximiser=LazyGreedy(), seed=0).indices):
        state = objective.update(state, pool.take(np.array([i])), np.random.default_rng(step))
    best, second = np.argsort(-np.asarray(objective.gains(state, pool.take(np.arange(len(probs))))))[:2]
    one, other = pool.take(np.array([best])), pool.take(np.array([second]))
    pairs = [
        objective.differences(objective.sketch(state, size, np.random.default_rng(seed)), one, other)
        for seed in tqdm(range(samples), desc=f"races on {size}")
    ]
    return np.array([float(d[0]) for d, _ in pairs]), np.array([float(e[0]) for _, e in pairs])


def _batch(probs: np.ndarray, maximiser: LazyGreedy | RacingGreedy, seed: int) -> tuple[list[int], float, int]:
    chosen = select_batch(probs, BatchBALD(4_000), 8, maximiser=maximiser, seed=seed)
    return chosen.indices, chosen.scores[-1], chosen.evaluations


if __name__ == "__main__":
    main()
