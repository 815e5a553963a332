"""Predictions into a Zarr array by processes of torchrun, and on a disk that becomes full."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from infoacq.posteriors import zarr_rows

pytest.importorskip("zarr", reason="Zarr is not installed: pip install 'infoacq[zarr]'")
ROWS, CHUNK = 250, 40

WORKER = """
import os, sys, torch
import zarr
from torch import nn
from infoacq.posteriors import mc_dropout, zarr_rows
rank, workers = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
pool = torch.randn(250, 6, generator=torch.Generator().manual_seed(1))
array = zarr.open_array(sys.argv[1], path="probs", mode="r+")
rows = zarr_rows.rows_of(array, rank, workers)
part = zarr_rows.Part(array, rows.start, rows.stop)
mc_dropout.predict_probs(model, pool[rows], 4, seed=0, progress=False, out=part)
"""


def test_under_torchrun(tmp_path):
    """Processes that torchrun starts, each with its part; together they are what one process gives."""
    (tmp_path / "worker.py").write_text(WORKER)
    arrays = [zarr_rows.create(tmp_path / name, ROWS, 4, 3, chunk=CHUNK) for name in ("one.zarr", "two.zarr")]
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    for workers, name in ((1, "one.zarr"), (2, "two.zarr")):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={workers}"]
        done = subprocess.run(
            [*command, "worker.py", name], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
    for array in arrays:
        zarr_rows.check_complete(array)
    np.testing.assert_array_equal(arrays[0][:], arrays[1][:])


FULL = """
import json, subprocess, sys, torch
from torch import nn
from infoacq.posteriors import mc_dropout, zarr_rows
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3))
pool = torch.randn(40_000, 6, generator=torch.Generator().manual_seed(1))
predict = lambda out: mc_dropout.predict_probs(model, pool, 4, seed=0, progress=False, out=out)
array = zarr_rows.create("disk/p.zarr", len(pool), 4, 3, chunk=2_000, dtype="float32")
said = []
for out in (array, "disk/p.npy"):
    try:
        predict(out)
    except OSError as error:
        said.append(f"{error.errno} {error}")
written = [len(pool) - sum(r.stop - r.start for r in zarr_rows.missing(array))]
written.append(json.load(open("disk/p.npy.json"))["rows"])
subprocess.run(["mount", "-o", "remount,size=8m", "disk"], check=True)
whole = mc_dropout.predict_probs(model, pool, 4, seed=0, progress=False)
for out in (array, "disk/p.npy"):
    assert abs(torch.as_tensor(predict(out)[:]) - whole).max() < 1e-6
zarr_rows.check_complete(array)
print(json.dumps([said, written]))
"""


def test_a_full_disk_loses_nothing(tmp_path):
    """On a disk of 1 MB of its own: both ways of writing stop with an error, and go on once there is room."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "full.py").write_text(FULL)
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    inside = f"mount -t tmpfs -o size=1m none disk && {sys.executable} -W ignore full.py"
    command = ["unshare", "-Urm", "sh", "-c", inside]
    if subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode:
        pytest.skip("this machine lets no test mount a small disk of its own")
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    said, written = json.loads(done.stdout)
    assert all(message.startswith("28 ") for message in said)
    assert "make room and call again" in said[0]
    assert 0 < written[0] < 40_000
    assert 0 <= written[1] < 40_000
