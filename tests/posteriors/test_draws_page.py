"""The page on draws, run as a reader would: its blocks one after the other."""

import re
from pathlib import Path

import numpy as np


def test_the_page_runs(untyped, tmp_path, monkeypatch, capsys):
    page = Path(__file__).parents[2] / "docs" / "draws.md"
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert len(blocks) == 4
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(blocks[0], str(page), "exec"), names)
    exact = names["probs"]
    assert exact.shape == (500, 100, 3)
    assert len(capsys.readouterr().out.splitlines()) >= 5
    exec(compile(blocks[1], str(page), "exec"), names)
    np.testing.assert_allclose(np.load("pool.npy"), exact.numpy(), atol=1e-3)
    exec(compile(blocks[2], str(page), "exec"), names)
    np.testing.assert_allclose(names["many"].numpy(), exact.numpy()[names["again"]], atol=1e-6)
    assert len(set(names["batch"])) == 5
    assert set(names["batch"]) <= set(names["again"])
