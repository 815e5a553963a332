"""Every name that a function reads from its module is there: shape strings keep linters from looking."""

import builtins
import dis
import importlib
import types
from collections.abc import Iterator

import pytest

from tests.house.test_faults import ROOT

FOLDERS = ("infoacq", "models", "reproduce", "benchmarks")


def modules() -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("") for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(".".join(path.parts) for path in paths if path.name not in ("__init__", "__main__"))


def read(code: types.CodeType) -> Iterator[str]:
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from read(inner)


@pytest.mark.parametrize("name", modules())
def test_every_name_is_there(name):
    module = importlib.import_module(name)
    code = compile((ROOT / f"{name.replace('.', '/')}.py").read_text(), name, "exec")
    unknown = set(read(code)) - set(vars(module)) - set(vars(builtins))
    assert not unknown
