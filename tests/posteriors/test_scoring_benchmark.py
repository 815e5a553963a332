"""The benchmark of scoring runs and says what it must; its times are not looked at."""

import json

from benchmarks import scoring
from benchmarks.machine import described


def test_the_command_prints_a_table_and_writes_json(tmp_path, capsys):
    out = tmp_path / "new" / "s.json"
    scoring.main(["--networks", "mnist", "--images", "24", "--draws", "9", "--repeats", "1", "--out", str(out)])
    printed = capsys.readouterr().out
    assert described()["cpu"] in printed
    report = json.loads(out.read_text())
    ways = [timing["way"] for timing in report["timings"]]
    assert ways == ["dropout left on", "consistent masks", "first part once", "predict_probs"]
    assert all(way in printed for way in ways)
    assert report["timings"][0]["times_faster"] == 1.0
    assert all(timing["largest_difference"] < 1e-5 for timing in report["timings"][1:])
