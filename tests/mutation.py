"""Break the core in many ways, one at a time and on a copy, and see the tests catch every one.

Run it as `python -m tests.mutation` from the repository's root, by hand: it takes some minutes. For each fault a copy
of the repository is changed in one place and the tests that should see it are run. A fault that no test sees makes the
exit code 1, and so does one whose place is not found any more. The faults themselves are in tests/faults.py,
tests/faults_of_stores.py and tests/faults_of_draws.py.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults import FAULTS, Fault
from tests.faults_of_draws import FAULTS_OF_DRAWS
from tests.faults_of_stores import FAULTS_OF_STORES

ROOT = Path(__file__).parents[1]
COPIED = ("infoacq", "tests", "models", "pyproject.toml", "README.md", "LICENSE")


def main() -> int:
    """Try each fault, print a table, and return how many were missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only faults whose name contains one of these")
    options = parser.parse_args()
    faults = FAULTS + FAULTS_OF_STORES + FAULTS_OF_DRAWS
    chosen = [f for f in faults if not options.names or any(name in f.name for name in options.names)]
    print(f"{'fault':<52} {'in':<34} caught by", flush=True)
    missed = 0
    for fault in chosen:
        outcome = tried(fault)
        missed += outcome is None
        print(f"{fault.name:<52} {fault.path:<34} {outcome or 'NOTHING'}", flush=True)
    print(f"{len(chosen) - missed} of {len(chosen)} faults caught")
    return int(missed > 0)


def tried(fault: Fault) -> str | None:
    """The first test that fails on a copy with the fault, or None."""
    with tempfile.TemporaryDirectory(prefix="infoacq-fault-") as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy(source, copy / name)
        broken(copy / fault.path, fault)
        # By the interpreter that runs this, from the copy: its infoacq is found before an installed one.
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", *fault.tests]
        done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0].removeprefix("FAILED ") if failed else f"pytest, exit code {done.returncode}"


def broken(path: Path, fault: Fault) -> None:
    """Put the fault into the file at `path`.

    Raises:
        ValueError: if the place is not there exactly once: the fault wants to be rewritten for today's code.
    """
    text = path.read_text()
    if text.count(fault.old) != 1:
        raise ValueError(
            f"{fault.path}: {fault.old!r} is there {text.count(fault.old)} times, not once ({fault.name})."
        )
    path.write_text(text.replace(fault.old, fault.new))


if __name__ == "__main__":
    sys.exit(main())
