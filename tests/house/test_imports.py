"""Who may import whom, what importing costs, and what is public."""

import subprocess
import sys
from pathlib import Path

import pytest

import infoacq

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", ["infoacq", "infoacq.cli"])
def test_importing_brings_in_no_framework(module: str) -> None:
    """In a process of its own, as other tests have imported them all."""
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "numpy" in loaded.stdout.split()
    assert not {"torch", "jax", "cupy", "matplotlib", "sklearn", "pandas", "zarr", "dask", "tqdm"} & set(
        loaded.stdout.split()
    )


def test_the_import_arrow_points_one_way() -> None:
    pytest.importorskip("importlinter")
    done = subprocess.run([Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "0 broken" in done.stdout


def test_public_names_are_few_and_all_there() -> None:
    public = {
        name
        for name, value in vars(infoacq).items()
        if not name.startswith("_") and not isinstance(value, type(infoacq))
    }
    assert public == set(infoacq.__all__)
    assert len(infoacq.__all__) == len(public) <= 25
    assert infoacq.__all__ == sorted(infoacq.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))


def test_every_subpackage_lists_what_it_offers() -> None:
    for name in ("objectives", "maximisers", "checks"):
        module = __import__(f"infoacq.{name}", fromlist=["__all__"])
        offered = {
            key
            for key, value in vars(module).items()
            if not key.startswith("_") and not isinstance(value, type(infoacq))
        }
        assert offered == set(module.__all__), name
