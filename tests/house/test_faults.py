"""The faults of `python -m tests.mutation` are those of today's code, and CONTRIBUTING lists them."""

from pathlib import Path

import pytest

from tests.faults import FAULTS, Fault
from tests.faults_of_draws import FAULTS_OF_DRAWS
from tests.faults_of_stores import FAULTS_OF_STORES

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("fault", FAULTS + FAULTS_OF_STORES + FAULTS_OF_DRAWS, ids=lambda fault: fault.name)
def test_the_place_of_a_fault_is_there_once_and_it_is_listed(fault: Fault) -> None:
    assert (ROOT / fault.path).read_text().count(fault.old) == 1
    assert fault.old != fault.new
    assert f"- {fault.name}\n" in (ROOT / "CONTRIBUTING.md").read_text() + "\n"
    assert all((ROOT / test).exists() for test in fault.tests if test.startswith("tests/"))
