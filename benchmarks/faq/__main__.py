"""The numbers behind docs/faq.md.

python -m benchmarks.faq --save     # a few minutes; rows go to benchmarks/results/faq.json
"""

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.faq import draws, dropout, identical
from infoacq import SaturationWarning

RESULTS = Path(__file__).parents[1] / "results" / "faq.json"
QUESTIONS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "identical points": identical.run,
    "stuck at log k": draws.stuck,
    "draws": draws.by_draws,
    "configurations": draws.by_configurations,
    "plain dropout": dropout.run,
}


def main() -> None:
    """Print the rows of each question and (with --save) keep them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore", SaturationWarning)
    found = {}
    for name, question in QUESTIONS.items():
        rows = question()
        found[name] = {"what": question.__doc__, "rows": rows}
        print(f"{name}: {question.__doc__}", *rows, sep="\n  ", flush=True)
    if options.save:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
