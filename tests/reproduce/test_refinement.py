"""Few draws for the whole pool, many for the best of it: what is predicted when, and what is chosen from."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy

from reproduce import loop
from reproduce.methods import BATCHBALD, Refinement
from reproduce.settings import describe_run
from tests.reproduce.conftest import TINY, RunTiny


def refined(candidates: int, draws: int = 30) -> Any:
    return replace(BATCHBALD, name="refined", refinement=Refinement(candidates=candidates, draws=draws))


@pytest.fixture
def predicted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[np.ndarray, np.ndarray]]:
    """Indices and probabilities of each call for predictions, in order."""
    calls = []
    own = loop.predict_probs

    def noting(model: Any, batches: Any, draws: int, **how: Any) -> Any:
        probs = own(model, batches, draws, **how)
        calls.append((batches.index.numpy(), probs.numpy()))
        return probs

    monkeypatch.setattr(loop, "predict_probs", noting)
    return calls


def test_the_best_under_few_draws_are_predicted_under_many(
    predicted: list[tuple[np.ndarray, np.ndarray]], run_tiny: RunTiny, tmp_path: Path
) -> None:
    log = run_tiny(tmp_path, refined(20))
    assert [probs.shape[:2] for _, probs in predicted] == [(100, 5), (200, 5), (20, 30)] * 3 + [(100, 5)]
    for step, (index, few), (best, many) in zip(log.steps, predicted[1::3], predicted[2::3], strict=False):
        bald = entropy(few.mean(axis=1), axis=-1) - entropy(few, axis=-1).mean(axis=1)
        assert best.tolist() == sorted(index[np.argsort(-bald)[:20]].tolist())
        at = np.searchsorted(index, best)
        np.testing.assert_allclose(many[:, :5], few[at], atol=1e-6)  # the few draws are the first of the many
        assert set(step.chosen) <= set(best.tolist())
        assert step.log_draws == pytest.approx(math.log(30), abs=1e-6)


def test_looking_closer_at_everything_is_choosing_under_many_draws(run_tiny: RunTiny, tmp_path: Path) -> None:
    closer = run_tiny(tmp_path, refined(10_000)).steps[0]
    many = run_tiny(tmp_path / "many", BATCHBALD, draws=30).steps[0]
    few = run_tiny(tmp_path / "few", BATCHBALD).steps[0]
    assert (closer.chosen, closer.gains) == (many.chosen, many.gains)
    assert (closer.accuracy, closer.nll) == (few.accuracy, few.nll)  # the test set's draws are the experiment's
    assert closer.chosen != few.chosen


def test_settings_of_a_run_tell_of_it() -> None:
    assert describe_run(TINY, refined(20))["refinement"] == {"kind": "Refinement", "candidates": 20, "draws": 30}
    assert "refinement" not in describe_run(TINY, BATCHBALD)
