"""Trap 35: random acquisition is shown beside the others, from the same initial sets and seeds."""

from pathlib import Path

import pytest

from reproduce.experiments import EXPERIMENTS
from reproduce.methods import BALD_FREE, BALD_KEPT, BATCHBALD, RANDOM
from reproduce.seeds import seed_of
from reproduce.settings import Experiment
from tests.reproduce.conftest import RunTiny


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda e: e.name)
def test_trap_35_every_experiment_has_random(experiment: Experiment) -> None:
    assert experiment.methods[0] is RANDOM


def test_trap_35_all_methods_of_a_trial_begin_alike(run_tiny: RunTiny, tmp_path: Path) -> None:
    logs = [run_tiny(tmp_path, method) for method in (RANDOM, BALD_KEPT, BALD_FREE, BATCHBALD)]
    first = [log.steps[0] for log in logs]
    assert len({(step.labelled, step.accuracy, step.nll, step.epochs) for step in first}) == 1
    assert first[1].gains[0] == first[3].gains[0]  # the same masks: both begin with the candidate of highest BALD
    assert first[1].chosen[0] == first[3].chosen[0]
    assert first[2].gains[0] != first[1].gains[0]  # free masks are others
    assert first[0].chosen[0] != first[1].chosen[0]

    other = run_tiny(tmp_path, RANDOM, trial=1)
    assert other.steps[0].accuracy != first[0].accuracy
    assert other.steps[0].chosen != first[0].chosen


def test_seeds_differ_by_each_of_their_parts() -> None:
    parts = [
        ("a", 0, 0, "x"),
        ("b", 0, 0, "x"),
        ("a", 1, 0, "x"),
        ("a", 0, 1, "x"),
        ("a", 0, 0, "y"),
        ("a", 10, 0, "x"),
    ]
    seeds = [seed_of(*part) for part in parts]
    assert len(set(seeds)) == len(parts)
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seed_of("digits", 0, 0, "split") == 4794356824455532225
