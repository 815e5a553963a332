"""What a user installs is the package and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_wheel_holds_infoacq_only(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    packages = {name.partition("/")[0] for name in names}
    assert {p for p in packages if not p.endswith(".dist-info")} == {"infoacq"}
    assert "infoacq/py.typed" in names
    assert "infoacq/posteriors/mc_dropout.py" in names
    assert not [name for name in names if name.endswith((".pyc", ".npy", ".json"))]
