"""The right values, by loops over every joint labelling: slow, obvious, and nothing of the library in them.

A point is a list over draws of lists over classes, p(y = c | draw k); a batch is a list of points. All values in nats.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

Point = Sequence[Sequence[float]]


def entropy(row: Sequence[float]) -> float:
    """−Σ p log p, with 0 log 0 = 0."""
    return -math.fsum(p * math.log(p) for p in row if p > 0)


def mean_prediction(point: Point) -> list[float]:
    """p(y = c), the mean over the draws."""
    return [math.fsum(row[c] for row in point) / len(point) for c in range(len(point[0]))]


def predictive_entropy(point: Point) -> float:
    """H[y]."""
    return entropy(mean_prediction(point))


def expected_entropy(point: Point) -> float:
    """E_k H[y | draw k]."""
    return math.fsum(entropy(row) for row in point) / len(point)


def bald(point: Point) -> float:
    """I[y; draw]."""
    return predictive_entropy(point) - expected_entropy(point)


def variation_ratio(point: Point) -> float:
    """1 − max_c p(y = c)."""
    return 1 - max(mean_prediction(point))


def mean_standard_deviation(point: Point) -> float:
    """The standard deviation over the draws, averaged over the classes."""
    mean = mean_prediction(point)
    variances = [math.fsum((row[c] - mean[c]) ** 2 for row in point) / len(point) for c in range(len(mean))]
    return math.fsum(math.sqrt(v) for v in variances) / len(variances)


def likelihoods(batch: Sequence[Point], labels: Sequence[int]) -> list[float]:
    """p(labels | draw k) for each draw."""
    return [math.prod(point[k][y] for point, y in zip(batch, labels, strict=True)) for k in range(len(batch[0]))]


def configurations(batch: Sequence[Point]) -> Iterator[tuple[int, ...]]:
    """Every joint labelling of the batch, the last point's label changing fastest."""
    return product(*(range(len(point[0])) for point in batch))


def joint_entropy(batch: Sequence[Point]) -> float:
    """H[y_S]."""
    if not batch:
        return 0.0
    draws = len(batch[0])
    return entropy([math.fsum(likelihoods(batch, labels)) / draws for labels in configurations(batch)])


def batchbald(batch: Sequence[Point]) -> float:
    """I[y_S; draw]."""
    return joint_entropy(batch) - math.fsum(map(expected_entropy, batch))


def conditional_entropy(batch: Sequence[Point], point: Point) -> float:
    """H[y | y_S]."""
    return joint_entropy([*batch, point]) - joint_entropy(batch)


def best_batch(pool: Sequence[Point], size: int) -> float:
    """The largest information of any batch of this size."""
    return max(batchbald(batch) for batch in combinations(pool, size))


def appendix_c(sampled: Sequence[Sequence[float]], last: Point, masses: Sequence[float] | None = None) -> float:
    """The importance-sampled H[y_1 … y_n]: labels of the first n − 1 points were drawn, those of the last are summed.

    `sampled[m][k]` is p(ŷ_m | draw k) of the m-th drawn labelling of the first points. By the equation of the paper's
    appendix C (arXiv 1906.08158), with p(ŷ) as the mean of p(ŷ | draw) over the draws:

        H ≈ −1/M Σ_m Σ_c p(ŷ_m, c) / p(ŷ_m) · log p(ŷ_m, c)

    and `masses` in place of 1/M where labellings were drawn with other probabilities than their own.
    """
    draws, terms = len(last), []
    masses = masses or [1 / len(sampled)] * len(sampled)
    for row, mass in zip(sampled, masses, strict=True):
        together = math.fsum(row) / draws
        for c in range(len(last[0])):
            with_label = math.fsum(row[k] * last[k][c] for k in range(draws)) / draws
            if with_label > 0:
                terms.append(mass * with_label / together * math.log(with_label))
    return -math.fsum(terms)


def systematic_variance(terms: Sequence[float]) -> float:
    """The variance of the sum of a systematic sample's terms: half the mean squared step from one to the next, a term.

    Wolter 2007, Introduction to variance estimation, § 8.2, estimator v₂.
    """
    steps = [(b - a) ** 2 for a, b in pairwise(terms)]
    return len(terms) * math.fsum(steps) / (2 * len(steps)) if steps else 0.0


def splitmix64(key: int, position: int) -> float:
    """The number in [0, 1) that `Random(key)` gives a position: one step of splitmix64 in whole numbers."""
    mask = (1 << 64) - 1
    x = ((position + 1) * 0x9E3779B97F4A7C15 + key) & mask
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
    return (x ^ (x >> 31)) / 2**64
