"""Trap 29: splits depend on their seed alone and are stored with the run."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from infoacq import PoolSplit
from reproduce.data import DataSet
from reproduce.errors import UserError
from reproduce.experiments import CINIC10_B10, EMNIST_B5, REPEATED_MNIST
from reproduce.published import INITIAL_POINTS
from reproduce.settings import Experiment
from reproduce.splits import starting_split, stored_split, validation_points
from tests.reproduce.conftest import RunTiny


def test_trap_29_a_split_does_not_depend_on_what_ran_before(tiny: Experiment, tiny_data: DataSet) -> None:
    labels = tiny_data.train_labels.numpy()
    first = starting_split(tiny, 0, labels)
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    starting_split(tiny, 1, labels)
    assert starting_split(tiny, 0, labels).to_json() == first.to_json()
    assert starting_split(tiny, 1, labels).to_json() != first.to_json()
    assert np.bincount(labels[first.labelled]).tolist() == [2] * 10
    assert len(first.held_out) == 60


def test_trap_29_given_initial_points_are_kept_and_validation_is_another_one_each_trial() -> None:
    labels = np.tile(np.arange(10), 18_000)
    splits = [starting_split(REPEATED_MNIST, trial, labels) for trial in (0, 1)]
    for split in splits:
        assert split.labelled.tolist() == list(INITIAL_POINTS)
        assert len(set(split.held_out.tolist())) == 3_072
        assert not set(split.held_out.tolist()) & set(INITIAL_POINTS)
    assert set(splits[0].held_out.tolist()) != set(splits[1].held_out.tolist())
    np.random.seed(1)  # noqa: NPY002
    assert starting_split(REPEATED_MNIST, 0, labels).to_json() == splits[0].to_json()


@pytest.mark.parametrize(("size", "last", "validation"), [(112_800, 18_800, 16_384), (32_900, 5_483, 4_779)])
def test_emnist_is_validated_on_points_of_its_end_that_are_not_in_the_pool(
    size: int, last: int, validation: int
) -> None:
    labels, share = np.arange(size) % 47, size / 112_800
    splits = [starting_split(EMNIST_B5, trial, labels, share) for trial in (0, 1)]
    for split in splits:
        assert split.pool.tolist() == list(range(size - last))
        assert len(split.labelled) == 0
        chosen = validation_points(EMNIST_B5.settings, split, share)
        assert len(set(chosen.tolist())) == validation
        assert chosen.min() >= size - last
    assert splits[0].held_out[:10].tolist() != splits[1].held_out[:10].tolist()
    assert starting_split(EMNIST_B5, 0, labels, share).to_json() == splits[0].to_json()


@pytest.mark.parametrize(("size", "each"), [(180_000, 2_000), (6_000, 67)])
def test_cinic10_starts_and_is_validated_with_as_many_of_each_class(size: int, each: int) -> None:
    labels, share = np.arange(size) % 10, size / 180_000
    splits = [starting_split(CINIC10_B10, trial, labels, share) for trial in (0, 1)]
    for split in splits:
        assert np.bincount(labels[split.labelled]).tolist() == [20] * 10
        chosen = validation_points(CINIC10_B10.settings, split, share)
        assert np.bincount(labels[chosen]).tolist() == [each] * 10
        assert len(split.pool) == size - 200 - 10 * each
    assert set(splits[0].held_out.tolist()) != set(splits[1].held_out.tolist())
    assert starting_split(CINIC10_B10, 0, labels, share).to_json() == splits[0].to_json()


def test_trap_29_the_stored_split_is_the_one_that_is_used(
    tiny: Experiment, tiny_data: DataSet, run_tiny: RunTiny, tmp_path: Path
) -> None:
    labels = tiny_data.train_labels.numpy()
    path = tmp_path / "tiny" / "paper" / "trial-0" / "split.json"
    first = stored_split(path, tiny, 0, tiny_data)
    stored = json.loads(path.read_text())
    assert PoolSplit.from_json(stored["split"]).to_json() == first.to_json()
    assert [entry.name for entry in path.parent.iterdir()] == ["split.json"]  # no draft is left

    only = [int(np.flatnonzero(labels == c)[0]) for c in range(10)]
    stored["split"]["labelled"] = only
    stored["split"]["held_out"] = [i for i in stored["split"]["held_out"] if i not in only]
    path.write_text(json.dumps(stored))
    assert [step.labelled for step in run_tiny(tmp_path).steps] == [10, 13, 16, 19]


def test_a_split_of_other_settings_or_a_damaged_one_is_refused(
    tiny: Experiment, tiny_data: DataSet, tmp_path: Path
) -> None:
    path = tmp_path / "split.json"
    stored_split(path, tiny, 0, tiny_data)
    other = replace(tiny, settings=replace(tiny.settings, validation=61))
    with pytest.raises(UserError, match="validation: 60 there, 61 now"):
        stored_split(path, other, 0, tiny_data)
    fewer = replace(tiny_data, train_images=tiny_data.train_images[:1_297], train_labels=tiny_data.train_labels[:1_297])
    with pytest.raises(UserError, match=r"of 2,594 training images, and the data set has 1,297 now"):
        stored_split(path, tiny, 0, fewer)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UserError, match=r"split\.json is damaged"):
        stored_split(path, tiny, 0, tiny_data)
