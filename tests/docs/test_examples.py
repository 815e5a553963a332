"""The examples of pages run as they stand, one after the other, and print what the page says."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path
from typing import Any

import jaxtyping
import pytest

from infoacq import maximisers, objectives, wrappers
from tests.docs.test_readme import ROOT

BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n^```\n(.*?)^```$)?", flags=re.MULTILINE | re.DOTALL)
EXAMPLES = {page: BLOCK.findall((ROOT / "docs" / page).read_text()) for page in ("objectives.md", "scale.md")}
NEEDS = {"objectives.md": (), "scale.md": ("torch", "zarr")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def printed(folder: Path) -> dict[str, list[str]]:
    """What each example prints, in a namespace that those of its page share."""
    # As users run them: without the shape checks of the tests, to which 8 is no float.
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        with contextlib.chdir(folder):
            return {page: run(page) for page in EXAMPLES if all(map(importlib.util.find_spec, NEEDS[page]))}
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)


def run(page: str) -> list[str]:
    found: list[str] = []
    names: dict[str, Any] = {}
    for code, _ in EXAMPLES[page]:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(compile(code, f"docs/{page}", "exec"), names)
        found.append(output.getvalue())
    return found


@pytest.mark.parametrize(("page", "number"), [(page, i) for page, found in EXAMPLES.items() for i in range(len(found))])
def test_an_example_prints_what_the_page_says(printed: dict[str, list[str]], page: str, number: int) -> None:
    if page not in printed:
        pytest.skip(f"the examples of {page} need {', '.join(NEEDS[page])}")
    assert printed[page][number] == EXAMPLES[page][number][1]


def test_every_objective_wrapper_and_maximiser_has_an_example() -> None:
    code = "".join(code for code, _ in EXAMPLES["objectives.md"])
    named = {*objectives.__all__, *wrappers.__all__, *maximisers.__all__}
    baselines = {"MeanStandardDeviation", "PredictiveEntropy", "Random", "VariationRatios"}
    taken_by_itself_or_for_scale = {"RacingGreedy", "TopK", "TwoRounds"}
    assert {
        name for name in named - baselines - taken_by_itself_or_for_scale if not re.search(rf"\b{name}\(", code)
    } == {"Constraint"}


def test_pictures_and_pages_that_the_pages_name_are_there() -> None:
    for page in (ROOT / "docs").glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name} points at {target}"
