"""How noisy a gain is on sampled configurations: both entropies under the same ones, or one under the prior.

Run it as `INFOACQ_SHARED=… python -m benchmarks.estimator_variance`.

The first five candidates of a greedy batch have 100,000 configurations, few enough to enumerate, so the true gain of a
sixth is known. Then as many configurations as `--configurations` says are drawn, again and again, and each gain is
estimated in four ways: configurations drawn independently of each other (as in the paper) or kept by importance (as
the library does), and the expected entropy taken under the uniform prior over the draws (as in the paper) or under
the same configurations as the entropy it is subtracted from (as the library does).
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
from jaxtyping import Float
from tqdm import trange

from benchmarks.predictions import predictions
from infoacq import BatchBALD, ExactJointEntropy, expected_entropy, select_batch
from infoacq.configurations import Configurations

RESULTS = Path(__file__).parent / "results" / "estimator_variance.json"
CHOSEN = 5
SAMPLINGS = ("independent", "by importance")
TERMS = ("uniform prior", "same configurations")


@dataclass(frozen=True)
class Noise:
    """How one estimator of a gain errs: figures over repeats, means over candidates (nats², nats)."""

    configurations: str
    expected_entropy_under: str
    variance: float
    standard_deviation: float
    bias: float
    negative: float


def main() -> None:
    """Measure the four estimators, print a table, write JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=100, help="candidates whose gains are estimated")
    parser.add_argument("--configurations", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON (default: %(default)s)")
    options = parser.parse_args()
    source, probs = predictions(1_000, 100, 10)
    noises = measured(probs.astype(np.float64), options.candidates, options.configurations, options.repeats)
    print(f"{source}: {options.repeats} samples of {options.configurations} configurations of {CHOSEN} points")
    print(f"{'configurations':<15} {'expected entropy under':<24} {'variance':>10} {'s.d.':>9} {'bias':>9} {'< 0':>6}")
    for noise in noises:
        print(
            f"{noise.configurations:<15} {noise.expected_entropy_under:<24} {noise.variance:>10.2e} "
            f"{noise.standard_deviation:>9.5f} {noise.bias:>9.5f} {noise.negative:>6.1%}"
        )
    report = {"predictions": source, "chosen": CHOSEN, "configurations": options.configurations}
    report |= {"candidates": options.candidates, "repeats": options.repeats}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(report | {"estimators": [asdict(noise) for noise in noises]}, indent=1) + "\n")


def measured(probs: Float[np.ndarray, "n k c"], candidates: int, configurations: int, repeats: int) -> list[Noise]:
    """The noise of each estimator on candidates at equal steps of the pool."""
    chosen = select_batch(probs, BatchBALD(max_configurations=configurations), CHOSEN, seed=0).indices
    joint = ExactJointEntropy.empty(draws=probs.shape[1], like=probs)
    for i in chosen:
        joint = joint.append(probs[i])
    some = probs[:: len(probs) // candidates][:candidates]
    truth = joint.conditional_entropy(some) - expected_entropy(some)
    gains: dict[tuple[str, str], list[np.ndarray]] = {pair: [] for pair in product(SAMPLINGS, TERMS)}
    for seed in trange(repeats, desc="samples", unit="sample"):
        for sampling, sample in samples(joint.configurations, configurations, seed):
            entropies = sample.conditional_entropy(some)
            gains[sampling, TERMS[0]].append(entropies - expected_entropy(some))
            gains[sampling, TERMS[1]].append(entropies - expected_entropy(some, sample.draw_weights))
    return [noise(sampling, term, np.stack(estimates), truth) for (sampling, term), estimates in gains.items()]


def samples(every: Configurations, count: int, seed: int) -> Iterator[tuple[str, Configurations]]:
    """`count` of the configurations, by each way of sampling."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(every), count, p=every.masses / every.masses.sum())
    yield SAMPLINGS[0], Configurations(every.posteriors[drawn], np.full(count, 1.0 / count), every.like)
    yield SAMPLINGS[1], every.thinned(count, rng)


def noise(sampling: str, term: str, gains: Float[np.ndarray, "repeats n"], truth: Float[np.ndarray, " n"]) -> Noise:
    """The figures of one estimator."""
    variance = float(gains.var(axis=0).mean())
    return Noise(sampling, term, variance, variance**0.5, float((gains - truth).mean()), float((gains < 0).mean()))


if __name__ == "__main__":
    main()
