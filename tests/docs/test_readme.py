"""What the README shows runs as it stands and prints what it says."""

import contextlib
import io
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a language on a page of the repository; "" for those without one."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)


def test_the_ten_lines_print_what_the_readme_says() -> None:
    code, printed = blocks("README.md", "python")[0], io.StringIO()
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().strip() in (ROOT / "README.md").read_text()


def test_pages_and_pictures_that_the_readme_names_are_there() -> None:
    for page in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "reproduce/README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
            if not target.startswith("http"):
                assert ((ROOT / page).parent / target).exists(), f"{page} points at {target}, which is not there"
