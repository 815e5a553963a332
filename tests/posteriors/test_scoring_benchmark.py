"""The benchmark of scoring runs and says what it must; its times are not looked at."""

import json

import pytest
import torch
from torch import nn

from benchmarks import machine, scoring
from benchmarks.scoring_networks import SUBJECTS, Subject

WAYS = ["dropout left on", "consistent masks", "first part once", "predict_probs"]
TINY = ["--networks", "mnist", "--images", "24", "--draws", "9", "--repeats", "1", "--device", "cpu"]


def test_the_command_prints_a_table_and_writes_json(tmp_path, capsys):
    out = tmp_path / "new" / "s.json"
    scoring.main([*TINY, "--out", str(out)])
    printed = capsys.readouterr().out
    assert machine.described()["cpu"] in printed
    report = json.loads(out.read_text())
    ways = [timing["way"] for timing in report["timings"]]
    assert ways == WAYS
    assert all(way in printed for way in ways)
    assert "in proportion" not in printed
    assert report["timings"][0]["times_faster"] == 1.0
    assert all(timing["largest_difference"] < 1e-5 for timing in report["timings"][1:])


@pytest.fixture
def scored(monkeypatch):
    """What was scored, in turn. A pass takes 10 s a batch and 1 s an image, the library another second an image."""
    now, seen = [0.0], []

    def take(name, images, draws, passes, more=0):
        seen.append((name, len(images), draws))
        now[0] += passes * (10 * -(-len(images) // 256) + len(images)) + more
        return torch.zeros(len(images), draws, 10)

    stand_ins = {
        "forwards": lambda model, x: take("forwards", x, 1, 1),
        "by_dropout_left_on": lambda model, x, draws: take("by_dropout_left_on", x, draws, draws),
        "by_way": lambda way, model, x, draws: take(way.__name__, x, draws, draws),
        "by_library": lambda model, x, draws: take("by_library", x, draws, 1, len(x)),
    }
    for name, stand_in in stand_ins.items():
        monkeypatch.setattr(scoring, name, stand_in)
    monkeypatch.setattr(scoring.time, "perf_counter", lambda: now[0])
    return seen


def test_the_forward_pass_goes_over_the_images_of_the_library_in_turn_with_it(scored):
    subject = Subject(nn.Identity, (1,), images=512, naive_images=256, naive_passes=5)
    usual, *_, ours = scoring.time_ways("own", subject, nn.Identity(), subject.inputs(), 50, 3)
    timed = [call for call in scored if call[1] > 64]  # on fewer they are compared
    naive = [("by_dropout_left_on", 256, 5), ("repeat_in_full", 256, 5), ("repeat_with_replay", 256, 50)]
    assert timed == 3 * [*naive, ("by_library", 512, 50), ("forwards", 512, 1)]
    assert (usual.images, usual.timed_draws, usual.draws) == (256, 5, 50)
    assert usual.seconds == 5 * (10 + 256)
    assert usual.us_per_image_and_draw == pytest.approx(1e6 * (10 + 256) / 256)
    assert usual.us_per_image_forward == pytest.approx(1e6 * (20 + 512) / 512)
    assert usual.times_one_forward == pytest.approx(50)
    assert ours.times_one_forward == pytest.approx((20 + 1024) / (20 + 512))
    assert ours.times_faster == pytest.approx(50 * (20 + 512) / (20 + 1024))
    assert "256 images x  50 draws 13300.00 s" in scoring.row(usual)
    assert scoring.row(usual).endswith("(of 5 draws, the rest in proportion)")


@pytest.mark.parametrize("name", SUBJECTS)
def test_all_ways_are_timed_in_whole_batches(name):
    assert SUBJECTS[name].naive_images % 256 == 0
    assert SUBJECTS[name].images % 256 == 0


@pytest.mark.parametrize(("device", "name"), [("cpu", "scoring"), ("cuda", "scoring-cuda"), ("cuda:1", "scoring-cuda")])
def test_what_a_card_takes_is_kept_beside_what_the_processor_takes(device, name):
    assert scoring._options(["--device", device]).out == scoring.RESULTS / f"{name}.json"


def test_the_card_is_named_if_it_was_measured(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device=None: f"card of {device}")
    assert "card" not in machine.described()
    assert "card" not in machine.described("cpu")
    assert machine.described("cuda:1")["card"] == "card of cuda:1"


def test_the_table_names_the_device_that_was_measured(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(scoring, "described", lambda *device: asked.append(device) or {})
    monkeypatch.setattr(scoring, "time_ways", lambda *_: [])
    scoring.main([*TINY, "--out", str(tmp_path / "s.json")])
    assert asked == [("cpu",)]
