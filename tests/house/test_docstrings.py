"""Every public function and class says what it gives, in which unit, what it raises, and where it comes from."""

import ast
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "infoacq"
FILES = [path for path in sorted(ROOT.rglob("*.py")) if path.name != "__main__.py" and path.read_text()]
Documented = ast.FunctionDef | ast.ClassDef
# The words by which a docstring says what its numbers are.
UNIT = re.compile(r"nats|p\(|probabilit|\bunit\b|score|how many|number|standard deviation|variance|value")


def public_names() -> set[str]:
    """What the package and its open folders offer."""
    modules = [
        importlib.import_module(f"infoacq{folder}") for folder in ("", ".objectives", ".maximisers", ".wrappers")
    ]
    return {name for module in modules for name in module.__all__}


def public(path: Path, names: set[str]) -> list[tuple[str, Documented, Documented]]:
    """The public classes and functions of a module and the classes' public methods, each with its class."""
    found: list[tuple[str, Documented, Documented]] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, Documented) and node.name in names:
            found.append((node.name, node, node))
            methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
            found += [(f"{node.name}.{m.name}", m, node) for m in methods if isinstance(node, ast.ClassDef)]
    return found


NAMES = public_names()
CASES = [pytest.param(node, owner, id=name) for path in FILES for name, node, owner in public(path, NAMES)]
FUNCTIONS = [case for case in CASES if isinstance(case.values[0], ast.FunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


def is_trivial(node: Documented) -> bool:
    """A property of a line or two that answers what its name asks, or a constant that a protocol's name explains."""
    decorators = {ast.unparse(d) for d in node.decorator_list}
    return bool(decorators & {"property", "cached_property"}) and len(node.body) <= 2


@pytest.mark.parametrize(("node", "owner"), CASES)
def test_it_has_a_docstring(node: Documented, owner: Documented) -> None:
    assert is_trivial(node) or ast.get_docstring(node)


@pytest.mark.parametrize(("node", "owner"), FUNCTIONS)
def test_what_returns_numbers_says_their_unit(node: ast.FunctionDef, owner: Documented) -> None:
    returned = ast.unparse(node.returns) if node.returns else ""
    if returned.startswith("Float[") or returned == "float":
        text = f"{ast.get_docstring(node)} {ast.get_docstring(owner)}"
        assert UNIT.search(text), "say the unit, here or at the class"


@pytest.mark.parametrize(("node", "owner"), FUNCTIONS)
def test_what_raises_says_so(node: ast.FunctionDef, owner: Documented) -> None:
    """An error that a function raises itself, or lets a check raise, is in its docstring or its class's."""
    raising = [n for n in ast.walk(node) if isinstance(n, ast.Raise) and n.exc is not None]
    checking = [n for n in ast.walk(node) if isinstance(n, ast.Call) and ast.unparse(n.func).startswith("checks.")]
    if raising or checking:
        assert "Raises:" in f"{ast.get_docstring(node)} {ast.get_docstring(owner)}"


def test_what_is_public_is_found() -> None:
    documented = {case.id for case in CASES}
    assert {"select_batch", "BatchBALD.gains", "ExactJointEntropy.append", "Greedy"} <= documented
    assert {name for name in NAMES if name not in documented} == set()
