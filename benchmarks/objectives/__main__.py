"""Which objective for which question: a small experiment on digits behind each recommendation of docs/objectives.md.

python -m benchmarks.objectives                   # all of them: a few minutes each
python -m benchmarks.objectives redundancy --save # one, and its rows into benchmarks/results/objectives.json
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path

from benchmarks.objectives import budgets, noise, redundancy, regression, several_labels, targets
from benchmarks.objectives.learning import Row
from infoacq import SaturationWarning

RESULTS = Path(__file__).parents[1] / "results" / "objectives.json"
EXPERIMENTS: dict[str, Callable[[int], list[Row]]] = {
    "redundancy": redundancy.run,
    "targets": targets.run,
    "noise": noise.run,
    "several labels": several_labels.run,
    "regression": regression.run,
    "costs": budgets.costs,
    "groups": budgets.groups,
    "stream": budgets.stream,
}


def main() -> None:
    """Run what is asked for, print it and (with --save) keep it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}; all by default")
    parser.add_argument("--seeds", type=int, default=6, metavar="N", help="splits of the data (default: 6)")
    parser.add_argument("--save", action="store_true", help=f"keep the rows in {RESULTS.name}")
    options = parser.parse_args()
    unknown = set(options.names) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"no such experiment: {', '.join(sorted(unknown))}")
    # With few labels, batches are often worth nearly all that the draws can tell; that is no news here.
    warnings.simplefilter("ignore", SaturationWarning)
    for name in options.names or EXPERIMENTS:
        rows = EXPERIMENTS[name](options.seeds)
        print(f"{name}: {EXPERIMENTS[name].__doc__}", *rows, sep="\n  ", flush=True)
        if options.save:
            keep(name, {"what": EXPERIMENTS[name].__doc__, "seeds": options.seeds, "rows": rows})


def keep(name: str, result: Row) -> None:
    """Put one result beside those that are kept already."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps({**kept, name: result}, indent=1) + "\n")


if __name__ == "__main__":
    main()
