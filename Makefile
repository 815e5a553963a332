PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
EXTRAS := torch,jax,zarr,dask,reproduce,dev

.PHONY: help setup demo bench test check format clean
help:            ## list the commands
	@grep -E '^[a-z]+: +.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/'

# The stamp is newer than pyproject.toml once the environment holds what it asks for.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install --quiet --upgrade pip
	$(RUN) -m pip install -e ".[$(EXTRAS)]"
	touch $@

setup: $(VENV)/.installed  ## make .venv with everything in it

demo: $(VENV)/.installed   ## Repeated digits: random, BALD and BatchBALD side by side (table and figure)
	$(RUN) -m reproduce demo

bench: $(VENV)/.bench      ## choosing a batch beside other libraries: seconds, memory, information (an hour)
	$(RUN) -m benchmarks.selecting --cases pool batch draws classes configurations
	$(RUN) -m benchmarks.selecting --figure
	$(RUN) -m benchmarks.kernels

$(VENV)/.bench: $(VENV)/.installed
	$(RUN) -m pip install -e ".[$(EXTRAS),bench]"
	touch $@

test: $(VENV)/.installed   ## the tests
	$(RUN) -m pytest -n 2

check: $(VENV)/.installed  ## formatting, linter, types, import arrows
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.installed ## let the formatter and the linter mend what they can
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

clean:           ## remove the environment and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
