"""Files and functions that a person takes in at one look."""

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("infoacq", "models", "reproduce", "benchmarks")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
TESTS = sorted((ROOT / "tests").rglob("*.py"))


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function's body without its docstring."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("path", FILES + TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_have_at_most_200_lines(path: Path) -> None:
    assert lines(path) <= 200


def test_half_of_the_packages_files_have_at_most_100_lines() -> None:
    assert statistics.median(lines(path) for path in FILES if path.is_relative_to(ROOT / "infoacq")) <= 100


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_have_at_most_25_lines(path: Path) -> None:
    functions = [
        n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert {f.name: body_lines(f) for f in functions if body_lines(f) > 25} == {}
