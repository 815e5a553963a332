"""The examples of docs/objectives.md run as they stand, one after the other, and print what the page says."""

import contextlib
import io
import re
from typing import Any

import jaxtyping
import pytest

from infoacq import maximisers, objectives, wrappers
from tests.docs.test_readme import ROOT

PAGE = (ROOT / "docs" / "objectives.md").read_text()
EXAMPLES = re.findall(r"^```python\n(.*?)^```$(?:\n^```\n(.*?)^```$)?", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def printed() -> list[str]:
    """What each example prints, in a namespace that they share."""
    found: list[str] = []
    names: dict[str, Any] = {}
    # As users run them: without the shape checks of the tests, to which 8 is no float.
    jaxtyping.config.update("jaxtyping_disable", True)
    try:
        for code, _ in EXAMPLES:
            with contextlib.redirect_stdout(io.StringIO()) as output:
                exec(compile(code, "docs/objectives.md", "exec"), names)
            found.append(output.getvalue())
    finally:
        jaxtyping.config.update("jaxtyping_disable", False)
    return found


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_the_page_says(printed: list[str], number: int) -> None:
    assert printed[number] == EXAMPLES[number][1]


def test_every_objective_wrapper_and_maximiser_has_an_example() -> None:
    code = "".join(code for code, _ in EXAMPLES)
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
