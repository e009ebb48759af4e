# Two commands do everything on a fresh machine: make demo, make test.
# Needed beforehand: python3 (3.11 or newer, with venv and pip), make, a package index.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# Test processes: as many as the cores that the suite is meant for. The types are checked beside them, and browsers are processes
# of their own; each test process more would only read all tests once more.
WORKERS ?= 2
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test suite test-postgresql soak lint docs notebooks dist lock sbom audit clean

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

# The site, in out/site: needs no network once its libraries are there; a warning is an error. It says what it does.
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -b html docs out/site
	@echo "open out/site/index.html"

# What the notebooks of the site show, run anew.
notebooks: $(VENV)/.docs
	$(BIN)/python docs/run_notebooks.py

# What is published, in dist/: built twice, to the same bytes, and checked.
dist: export SOURCE_DATE_EPOCH = 1767225600
dist: $(VENV)/.dev
	rm -rf dist out/dist
	$(PIP) install twine check-wheel-contents
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(BIN)/python -m build --no-isolation --outdir out/dist .
	diff -r dist out/dist
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl

# All stamps also depend on pyproject.toml: a new entry point or dependency reinstalls.
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

$(VENV)/.docs: requirements-docs.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) install --require-hashes -r requirements-docs.lock
	$(PIP) install --no-deps --no-build-isolation -e .
	touch $@

COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
	--no-emit-trusted-host --strip-extras --allow-unsafe --extra build

lock:
	$(PIP) install pip-tools
	$(COMPILE) -o requirements.lock pyproject.toml
	$(COMPILE) --extra test -o requirements-dev.lock pyproject.toml
	$(COMPILE) --extra docs --constraint requirements-dev.lock -o requirements-docs.lock pyproject.toml

# Tools that ask of the locked runtime what is in it, and what is known against it; they are no part of it.
$(VENV)/.asking: | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)/asking
	$(VENV)/asking/bin/pip --disable-pip-version-check --quiet install "cyclonedx-bom>=7,<8" "pip-audit>=2.9,<3"
	touch $@

# What a server runs, as CycloneDX; needs no network but to install the tool.
sbom: $(VENV)/.asking
	$(VENV)/asking/bin/cyclonedx-py requirements requirements.lock --of JSON --output-reproducible -o sbom.json
	@echo "sbom.json lists what requirements.lock installs"

# Ends with 1 unless every locked package was looked up and nothing is known against any.
audit:
	@rm -f audit.json; $(MAKE) --no-print-directory $(VENV)/.asking \
		&& $(VENV)/asking/bin/pip-audit -r requirements.lock --disable-pip --require-hashes --progress-spinner off -f json -o audit.json; \
	$(PYTHON) benchmarks/audit_result.py requirements.lock audit.json \
		|| { echo "audit: audit.json has what is known; mend the bounds in pyproject.toml, then make lock; or ask again later" >&2; exit 1; }

clean:
	rm -rf $(VENV) sbom.json audit.json out dist prefcal-demo test-artifacts
