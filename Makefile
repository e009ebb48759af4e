# Two commands do everything on a fresh machine: make demo, make test.
# Needed beforehand: python3 (3.11 or newer, with venv and pip), make, a package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Test processes: as many as the cores that the suite is meant for. The types are checked beside them, and browsers are processes
# of their own; each test process more would only read all tests once more.
WORKERS ?= 2
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test suite test-postgresql soak lint lock clean

demo: $(VENV)/.runtime
	$(BIN)/prefcal demo $(ARGS)

# Libraries must not start threads of their own beside the test processes; what one process compiled, the others read.
suite test-postgresql soak: export OMP_NUM_THREADS = 1
suite test-postgresql soak: export OPENBLAS_NUM_THREADS = 1
suite test-postgresql soak: export PYTHONDONTWRITEBYTECODE =

# The types are checked beside the tests: before them, one core would have nothing to do.
test: $(VENV)/.dev
	$(MAKE) --no-print-directory -j 2 lint suite

suite: $(VENV)/.dev
	$(BIN)/python tests/browser/ensure_chromium.py
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# Whatever touches a database, on PostgreSQL: on the machine's own server programs, else those of a test dependency.
test-postgresql: $(VENV)/.dev
	$(BIN)/python tests/browser/ensure_chromium.py
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --database=postgresql \
		tests/study_app tests/serving tests/browser tests/test_loop.py tests/test_loop_streams.py $(ARGS)

# What takes minutes: more crowds, more kills, every page in every way, more examples of every property.
soak: $(VENV)/.dev
	$(BIN)/python tests/browser/ensure_chromium.py
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile \
		-m "soak or hypothesis or seeds" --hypothesis-profile=soak --every-seed $(ARGS)

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Both stamps also depend on pyproject.toml: a new entry point or dependency reinstalls.
$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "prefcal needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) install --require-hashes -r requirements.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) install --require-hashes -r requirements-dev.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $(VENV)/.runtime $@

COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host --strip-extras --allow-unsafe --extra build

lock:
	$(PIP) install pip-tools
	$(COMPILE) -o requirements.lock pyproject.toml
	$(COMPILE) --extra test -o requirements-dev.lock pyproject.toml

clean:
	rm -rf $(VENV) out prefcal-demo test-artifacts
