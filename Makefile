# `make demo` and `make test` are the two commands to start with; `make help` lists all.
#
# Everything is installed into .venv, editable, so what runs is this checkout. A stamp
# file in .venv records each installation; changing a build file makes it stale.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --no-input -qq

DOCS   := .environments/docs

BUILD_FILES := pyproject.toml setup.py $(wildcard _cffi_build/*.c _cffi_build/*.h _cffi_build/*.py)

.PHONY: help demo test test-fast array-api-tests field upstream memcheck stress fuzz \
        long-run dlpack-matrix clients client-profiles engines lint format types pyright \
        layers bench docs wheels test-wheel clean
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed ## share an array with NumPy and see every field of the exchange
	@$(BIN)/python -m refarray demo

test: $(VENV)/test ## the test suite
	@$(BIN)/python -m pytest -n auto

# In one process: workers would take longer to start than these tests take to run.
FAST := tests/base tests/dlpack tests/native tests/profiles tests/standard tests/unspecified \
        tests/test_array.py tests/test_buffer_protocol.py tests/test_long_integers.py \
        tests/test_public_api.py tests/test_signatures.py
test-fast: $(VENV)/test ## the tests of the core that are not slow [ARGS="-k promote"]
	@$(BIN)/python -m pytest -q -m "not slow" $(FAST) $(ARGS)

# VERSION of the standard, EXAMPLES for each test; with CORRECTED=1, two lines of the suite
# that are wrong for 2021.12 and 2022.12 are replaced first. DEVICE=simulated makes a
# simulated CUDA device the default one.
VERSION  ?= 2025.12
EXAMPLES ?= 100
DEVICE   ?= cpu
array-api-tests: $(VENV)/test ## the standard's official suite [VERSION= EXAMPLES= DEVICE=]
	@$(BIN)/python tests/run_array_api_tests.py --version $(VERSION) \
	    --examples $(EXAMPLES) --device $(DEVICE) $(if $(CORRECTED),--corrected) $(ARGS)

# LIBRARIES="torch jax" tests only these again. Each gets an environment of its own; some
# need other Pythons, which are looked for. ARGS="--in-ci --check" is what CI runs.
field: $(VENV)/test ## the exchange with every library, and its table [LIBRARIES= ARGS=]
	@$(BIN)/python tools/field.py $(LIBRARIES) $(ARGS)

# ONLY="threads signals" runs these steps again.
stress: $(VENV)/test ## everything fails once, at every step: allocations, producers, forks [ONLY=]
	@$(BIN)/python tests/stress/run.py $(ONLY)

memcheck: $(VENV)/test ## the exchange under valgrind and the sanitizers of the C compiler
	@$(BIN)/python tests/memcheck/run.py

# Forged capsules, found by libFuzzer where atheris installs; in an environment of its own.
MINUTES ?= 1
fuzz: $(VENV)/test ## forged capsules against the importer [MINUTES=60]
	@$(BIN)/python tools/fuzz.py $(MINUTES)

long-run: $(VENV)/test ## exchange and compute; memory stays as it is [MINUTES=60]
	@$(BIN)/python tests/stress/long_run.py $(MINUTES)

# LIBRARIES="torch jax" checks only these again. Each gets an environment of its own.
dlpack-matrix: $(VENV)/installed ## which rules of DLPack other libraries keep [LIBRARIES=]
	@$(BIN)/python tools/matrix.py $(LIBRARIES)

# LIBRARIES="torch jax" runs only theirs again.
upstream: $(VENV)/test ## the reports for other projects: which defects are still there [LIBRARIES=]
	@$(BIN)/python tools/upstream.py $(LIBRARIES)

# ONLY="xarray probes" runs only these again. The clients need Python 3.12: PYTHON=... or
# one that is found.
clients: $(VENV)/installed ## test suites of SciPy and other clients on refarray [ONLY=]
	@$(BIN)/python tools/clients.py $(foreach name,$(ONLY),--only $(name)) $(ARGS)

# ENGINES="mpi dask" runs only these again. Cubed 0.28 needs Python 3.12, as above.
engines: $(VENV)/installed ## Cubed, Dask and MPI with arrays of refarray [ENGINES=]
	@$(BIN)/python tools/engines.py $(ENGINES)

client-profiles: $(VENV)/installed ## array-api-extra's tests under each profile [ONLY=]
	@$(BIN)/python tools/client_profiles.py $(ONLY)

lint: $(VENV)/lint ## ruff: errors, imports, docstrings, format
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(VENV)/lint ## rewrite the files as `make lint` wants them
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(VENV)/lint ## mypy --strict, for each system; the stubs of compiled modules
	@$(BIN)/python tools/check_stubs.py
	@$(BIN)/mypy
	@$(BIN)/mypy --platform darwin --cache-dir .mypy_cache/darwin
	@$(BIN)/mypy --platform win32 --cache-dir .mypy_cache/win32

pyright: $(VENV)/pyright ## the same by another type checker
	@$(BIN)/pyright

layers: $(VENV)/lint ## each folder imports only from the folders before it
	@$(BIN)/lint-imports --no-logo

# ONLY="exchange small" measures these subjects and writes nothing. Every library is
# installed into one environment.
bench: $(VENV)/installed ## speed beside other libraries, with the targets [ONLY=]
	@$(BIN)/python tools/bench.py $(ONLY)

# Pages that can be run are run, and what they print is compared with what they say.
docs: $(VENV)/installed $(DOCS)/installed ## the documentation, into docs/_build/html/index.html
	@$(DOCS)/bin/sphinx-build -W --keep-going -q -E -j auto docs docs/_build/html
	@echo "docs/_build/html/index.html"

# The wheel is built from the sdist, and both are checked.
wheels: $(VENV)/wheels ## build sdist and wheel into dist/, and check them
	@rm -rf dist
	@$(BIN)/python -m build >/dev/null
	@$(BIN)/twine check --strict dist/*
	@$(BIN)/abi3audit --strict --report dist/*.whl >/dev/null
	@ls dist/*

# PYTHONS="python3.12 python3.13" tries it on these; ARGS=--oldest with the oldest NumPy and
# cffi that are allowed.
test-wheel: wheels ## the wheel without checkout and compiler passes the tests [PYTHONS= ARGS=]
	@$(BIN)/python tools/test_wheel.py $(PYTHONS) $(ARGS)

clean: ## remove everything that was built, .venv included
	rm -rf $(VENV) .environments build dist docs/_build *.egg-info .hypothesis .*_cache
	find refarray \( -name '*.so' -o -name '_native.c' -o -name '_forge.c' \
	    -o -name '_cuda_driver.py' \) -delete
	find . -name __pycache__ -prune -exec rm -rf {} +

# ---- What the targets above need -------------------------------------------------

# pip reads dependency groups from 25.1 on; a new venv often has an older one.
$(VENV)/created:
	@$(PYTHON) _cffi_build/check_prerequisites.py
	@echo "Creating $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv --clear $(VENV)
	@$(PIP) install --upgrade "pip>=25.1"
	@touch $@

$(VENV)/installed: $(VENV)/created $(BUILD_FILES)
	@echo "Building refarray and installing it into $(VENV) ..."
	@$(PIP) install --group build
	@$(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/test: $(VENV)/installed
	@echo "Installing the test tools into $(VENV) ..."
	@$(PIP) install --group test
	@touch $@

$(VENV)/lint: $(VENV)/test
	@echo "Installing the lint tools into $(VENV) ..."
	@$(PIP) install --group lint
	@touch $@

$(VENV)/pyright: $(VENV)/lint
	@echo "Installing pyright into $(VENV) ..."
	@$(PIP) install --group pyright
	@touch $@

$(VENV)/wheels: $(VENV)/installed
	@echo "Installing build, twine and abi3audit into $(VENV) ..."
	@$(PIP) install --group wheels
	@touch $@

# An environment of its own: Sphinx and Jupyter bring 70 packages.
# refarray itself is this checkout.
$(DOCS)/installed: pyproject.toml | $(VENV)/installed
	@echo "Installing Sphinx into $(DOCS) ..."
	@$(PYTHON) -m venv --clear $(DOCS)
	@$(PIP) --python $(DOCS)/bin/python install --group docs
	@touch $@
