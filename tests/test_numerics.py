"""Long batches and extreme counts: finite, bounded, and where they must end."""

import math

import numpy as np
import pytest

from infoacq import BatchBALD, ExactJointEntropy, SaturationWarning, select_batch
from tests import oracles
from tests.backends import Backend
from tests.predictions import STANDARD, dirichlet, dyadic


def test_200_picks_in_float32_with_20_draws_end_at_log_20() -> None:
    """200 labels tell 20 draws apart: what is left of their entropy is less than rounding."""
    p = dirichlet(1, 220, 20, 3).astype(np.float32)
    with pytest.warns(SaturationWarning, match="from pick"):
        selection = select_batch(p, BatchBALD(max_configurations=500), 200, seed=0)
    assert len(set(selection.indices)) == 200
    assert np.isfinite(selection.gains).all()
    assert np.isfinite(selection.standard_errors).all()
    assert min(selection.gains) >= 0
    assert max(selection.scores) <= math.log(20) + 1e-12
    # Past the point of saturation gains are the sampled mass of labels that surprise: a few thousandths in all.
    assert selection.scores[-1] == pytest.approx(math.log(20), abs=0.01)


def test_a_long_sampled_joint_entropy_tells_all_of_the_draws() -> None:
    p, rng = dirichlet(2, 150, 20, 3), np.random.default_rng(0)
    joint = ExactJointEntropy.empty(draws=20, like=p).sampled(1_000, rng)
    for point in p:
        joint = joint.append(point, rng)
    noise = math.fsum(map(oracles.expected_entropy, p.tolist()))
    assert joint.entropy - noise == pytest.approx(math.log(20), abs=4 * joint.standard_error + 0.02)
    rows = joint.configurations.posteriors
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-9)
    assert joint.configurations.masses @ rows.max(axis=1) > 0.99, "after 150 labels the draw is known"


@pytest.mark.filterwarnings("ignore::infoacq.SaturationWarning")
def test_selections_of_equal_scores_on_every_backend(xp: Backend) -> None:
    """The same batch everywhere, and in float32 the same scores to 1e-5."""
    p = dyadic(3, *STANDARD)
    for objective in (BatchBALD(), BatchBALD(max_configurations=20)):
        wanted = select_batch(p, objective, 5, seed=1)
        got = select_batch(xp.array(p), objective, 5, seed=1)
        assert got.indices == wanted.indices
        assert got.scores == pytest.approx(wanted.scores, abs=1e-9 if xp.dtype == "float64" else 1e-5)


def test_many_classes_and_many_draws() -> None:
    p = dirichlet(4, 3, 100, 150, concentration=0.1)
    selection = select_batch(p, BatchBALD(max_configurations=500), 2, seed=0)
    assert selection.gains[0] == pytest.approx(max(map(oracles.bald, p.tolist())), abs=1e-9)
    both = [p[i].tolist() for i in selection.indices]
    wanted = oracles.batchbald([both[0]]) + _information_given(np.array(both[0]), np.array(both[1]))
    assert selection.scores[-1] == pytest.approx(wanted, abs=1e-9)


def _information_given(first: np.ndarray, second: np.ndarray) -> float:
    """I[y_2; draw | y_1] of two points, summed over the labels of the first."""
    total = 0.0
    for label in range(first.shape[1]):
        mass = first[:, label].mean()
        posterior = first[:, label] / first[:, label].sum()
        expected = sum(w * oracles.entropy(row) for w, row in zip(posterior, second.tolist(), strict=True))
        total += mass * (oracles.entropy((posterior @ second).tolist()) - expected)
    return total
