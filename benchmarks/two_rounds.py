"""What is lost when each shard chooses for itself first: TwoRounds beside greedy choice from the whole.

    python -m benchmarks.two_rounds [--candidates N] [--save]

Batches are scored by one referee on many more configurations than either used.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.predictions import predictions
from benchmarks.referee import information
from infoacq import BatchBALD, from_probs, select_batch
from infoacq.maximisers import TwoRounds

RESULTS = Path(__file__).parent / "results" / "two_rounds.json"


def main() -> None:
    """Score the batches of several numbers of shards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=4000, metavar="N")
    parser.add_argument("--batch-size", type=int, default=10, metavar="N")
    parser.add_argument("--shards", nargs="*", type=int, default=[4, 20, 100], metavar="N")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    source, probs = predictions(options.candidates, 100, 10)
    whole = select_batch(probs, BatchBALD(), options.batch_size, seed=0)
    best, _ = information(probs, np.array(whole.indices))
    rows: list[dict[str, Any]] = []
    for shards in options.shards:
        pool = from_probs(probs).with_shards_of(-(-len(probs) // shards))
        batch = select_batch(pool, BatchBALD(), options.batch_size, seed=0, maximiser=TwoRounds())
        value, error = information(probs, np.array(batch.indices))
        rows.append({"shards": shards, "nats": value, "standard_error": error, "of_greedy": value / best})
        print(
            f"{shards:5} shards: {value:.4f} ± {error:.4f} nats, {value / best:.2%} of greedy's {best:.4f}", flush=True
        )
    if options.save:
        case = {"predictions": source, "candidates": options.candidates, "batch_size": options.batch_size}
        RESULTS.write_text(json.dumps(case | {"greedy_nats": best, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
