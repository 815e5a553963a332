"""What is lost when only the candidates that rank best under few draws are predicted under many.

    python -m benchmarks.few_draws_first [--candidates N] [--save]

BALD under the few draws ranks the pool, BatchBALD under all draws chooses from the best of it. Beside it: a choice from
as many candidates at random, and from the whole pool under the few draws alone. Batches are scored by one referee.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from tqdm import tqdm

from benchmarks.predictions import predictions
from benchmarks.referee import information
from infoacq import BALD, BatchBALD, select_batch

RESULTS = Path(__file__).parent / "results" / "few_draws_first.json"
DRAWS = 100
REPEATS = 3  # of the choice from candidates at random


def main() -> None:
    """Score the batches for several numbers of candidates that are looked at again."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=60_000, metavar="N")
    parser.add_argument("--few", type=int, default=10, metavar="K", help="draws for the whole pool (default: 10)")
    parser.add_argument("--batch-size", type=int, default=10, metavar="N")
    parser.add_argument("--again", nargs="*", type=int, default=[500, 1_000, 2_000, 4_000], metavar="N")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    source, probs = predictions(options.candidates, DRAWS, 10)
    few, size = probs[:, : options.few], options.batch_size
    everything = np.arange(len(probs))
    whole, alone = score(probs, probs, everything, size), score(probs, few, everything, size)
    print(f"whole pool under {DRAWS} draws {whole:.4f} nats, under {options.few} draws {alone:.4f}")
    rows = [row(probs, few, number, size) for number in tqdm(options.again, unit="row", disable=None)]
    for found in rows:
        print(
            "{again:6} again: {nats:.4f} nats, at random {at_random:.4f}, {predictions:.0%} of the work".format(**found)
        )
    if options.save:
        case = {"predictions": source, "candidates": len(probs), "draws": DRAWS, "few": options.few, "batch_size": size}
        RESULTS.write_text(json.dumps(case | {"whole": whole, "few_alone": alone, "rows": rows}, indent=1) + "\n")


def row(probs: Float[np.ndarray, "n k c"], few: Float[np.ndarray, "n few c"], again: int, size: int) -> dict[str, Any]:
    """What is chosen when so many candidates are looked at again (nats), and the share of all network passes."""
    best = np.sort(select_batch(few, BALD(), again, seed=0).indices)
    rng = np.random.default_rng(0)
    samples = (np.sort(rng.choice(len(probs), again, replace=False)) for _ in range(REPEATS))
    passes = few.shape[1] * (len(probs) - again) + probs.shape[1] * again
    return {
        "again": again,
        "nats": score(probs, probs, best, size),
        "at_random": float(np.mean([score(probs, probs, sample, size) for sample in samples])),
        "predictions": passes / (probs.shape[1] * len(probs)),
    }


def score(
    probs: Float[np.ndarray, "n k c"], seen: Float[np.ndarray, "n few c"], some: Int[np.ndarray, " m"], size: int
) -> float:
    """What the batch chosen from some candidates, as they are seen, tells of all draws (nats)."""
    batch = select_batch(np.ascontiguousarray(seen[some]), BatchBALD(), size, seed=0)
    return information(probs, some[batch.indices])[0]


if __name__ == "__main__":
    main()
