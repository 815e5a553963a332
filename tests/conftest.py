"""What every test shares: shapes checked as the code runs, backends, real data, and property tests that repeat."""

import os
from collections.abc import Iterator
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import HealthCheck, settings

# JAX compiles every operation anew for each shape: what one test or worker compiled, the others and the next run read.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# Before anything imports infoacq: every annotated shape and dtype is checked in the tests, and only there.
jaxtyping.install_import_hook("infoacq", "beartype.beartype")

from tests.backends import BACKENDS, Backend  # noqa: E402

settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=False
)
settings.load_profile("repeatable")


@pytest.fixture(params=BACKENDS, ids=str)
def xp(request: pytest.FixtureRequest) -> Backend:
    """A maker of arrays in one dtype: each backend in each precision that it has."""
    backend: Backend = request.param
    backend.skip_if_missing()
    return backend


@pytest.fixture(params=[b for b in BACKENDS if b.dtype == "float64"], ids=str)
def maker(request: pytest.FixtureRequest) -> Backend:
    """A maker of arrays in float64."""
    backend: Backend = request.param
    backend.skip_if_missing()
    return backend


@pytest.fixture
def untyped() -> Iterator[None]:
    """Without the shape checks of the tests, as users run the library: bad input reaches the library's own errors."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data that is not part of the project."""
    folder = os.environ.get("INFOACQ_SHARED")
    if not folder:
        pytest.skip("real predictions are read from the folder that INFOACQ_SHARED names; it is not set")
    return Path(folder)
