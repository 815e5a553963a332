"""ITL and VTL beside activeft's, on the same embeddings: what each picks, what that is worth, and how long it took.

    pip install activeft faiss-cpu
    python -m benchmarks.activeft_comparison --save

Values are computed by neither: dense determinants and solves of the covariance of all points. Two differences are known
(activeft 0.1.1): it may pick a point again, which a pool of single labels does not allow, and its ITL leaves the noise
of the observation out of both variances, other than its documentation says.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from infoacq import Greedy, Objective, select_batch
from infoacq.gaussian import from_embeddings
from infoacq.objectives import ITL, VTL, GaussianBatchBALD

RESULTS = Path(__file__).parent / "results" / "activeft.json"
NOISE = 0.1
PICKS = 20


@dataclass(frozen=True)
class Row:
    """What one library's method picked."""

    library: str
    method: str
    seconds: float
    information_on_targets: float
    targets_variance: float
    repeats: int
    picks: list[int]


def main() -> None:
    """Compare, print and (with --save) write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    options = parser.parse_args()
    points, targets = embeddings()
    rows = [*ours(points, targets), *theirs(points, targets)]
    print("library   method           seconds   I[y_S; f_A]   mean Var[f_A | y_S]   repeats   first picks")
    for r in rows:
        numbers = f"{r.seconds:8.2f} {r.information_on_targets:13.4f} {r.targets_variance:21.5f} {r.repeats:9}"
        print(f"{r.library:<9} {r.method:<15} {numbers}   {r.picks[:6]}")
    if options.save:
        RESULTS.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")


def embeddings() -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "t d"]]:
    """Digits in 16 principal components of unit mean square length: 900 candidates, 5 threes and eights as targets."""
    images, labels = load_digits(return_X_y=True)
    e = PCA(16, random_state=0).fit_transform(images)
    e /= np.sqrt((e**2).sum(axis=1).mean())
    order = np.random.default_rng(0).permutation(len(e))
    pool, rest = order[:900], order[900:]
    return e[pool], e[rest[np.isin(labels[rest], [3, 8])][:5]]


def ours(points: Float[np.ndarray, "n d"], targets: Float[np.ndarray, "t d"]) -> list[Row]:
    """The picks of infoacq: ITL on observations of the targets, as activeft has it."""
    pool, aims = from_embeddings(points), from_embeddings(targets)
    objectives: dict[str, Objective[Any]] = {
        "ITL": ITL(aims, NOISE, target_noise_variance=NOISE),
        "VTL": VTL(aims, NOISE),
        "undirected ITL": GaussianBatchBALD(NOISE),
    }
    rows = []
    for method, objective in objectives.items():
        start = time.perf_counter()
        picks = select_batch(pool, objective, PICKS, maximiser=Greedy()).indices
        rows.append(row("infoacq", method, time.perf_counter() - start, points, targets, picks))
    return rows


def theirs(points: Float[np.ndarray, "n d"], targets: Float[np.ndarray, "t d"]) -> list[Row]:
    """The picks of activeft, in its float32, with a mini-batch that holds the whole pool."""
    module = "activeft.acquisition_functions"
    itl, vtl, undirected = (import_module(f"{module}.{name}") for name in ("itl", "vtl", "undirected_itl"))
    data, aims = (torch.tensor(e, dtype=torch.float32) for e in (points, targets))
    options: dict[str, Any] = {"noise_std": NOISE**0.5, "mini_batch_size": len(points)}
    rows = []
    for method, function in {
        "ITL": itl.ITL(aims, **options),
        "VTL": vtl.VTL(aims, **options),
        "undirected ITL": undirected.UndirectedITL(**options),
    }.items():
        start = time.perf_counter()
        indices, _ = function.select_from_minibatch(PICKS, None, data, None)
        rows.append(row("activeft", method, time.perf_counter() - start, points, targets, indices.tolist()))
    return rows


def row(
    library: str,
    method: str,
    seconds: float,
    points: Float[np.ndarray, "n d"],
    targets: Float[np.ndarray, "t d"],
    picks: list[int],
) -> Row:
    """The row of these picks, with their values by dense linear algebra."""
    chosen = points[picks]
    noisy = chosen @ chosen.T + NOISE * np.eye(len(picks))
    across, within = chosen @ targets.T, targets @ targets.T
    left = noisy - across @ np.linalg.pinv(within, hermitian=True) @ across.T
    information = 0.5 * (np.linalg.slogdet(noisy)[1] - np.linalg.slogdet(left)[1])
    variance = float(np.diag(within - across.T @ np.linalg.solve(noisy, across)).mean())
    repeats = len(picks) - len(set(picks))
    return Row(library, method, round(seconds, 3), round(float(information), 6), round(variance, 7), repeats, picks)


if __name__ == "__main__":
    main()
