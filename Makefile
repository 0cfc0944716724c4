# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
KERNELS := $(wildcard src/tallybayes/kernels/*.py src/tallybayes/workflows/warmup.py)

export NUMBA_CACHE_DIR := $(CURDIR)/.venv/numba

.PHONY: help run quick test test-deep lint system bench bench-quick accuracy lock clean
.NOTPARALLEL:
.DEFAULT_GOAL := run

help:  ## This list.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: .venv/run  ## Work through the lectures' examples, then train, judge, explain and report.
	@PYTHONPATH=src $(BIN)/python examples/lectures.py
	@PYTHONPATH=src $(BIN)/python examples/loan.py

quick: lint .venv/warm  ## Lint, and test what changed and the layers above it; two minutes at most.
	@TALLYBAYES_TIER=quick $(BIN)/python tools/quick.py $(SINCE)

test: lint .venv/warm  ## Lint, types, layers and every test once; installs nothing on the system.
	TALLYBAYES_TIER=test $(PYTEST)

test-deep: lint .venv/warm  ## All settings, fuzzers and many more random examples.
	TALLYBAYES_TIER=deep $(PYTEST)

lint: .venv/package
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# A program that tests use for real, and the Debian package that has it.
SYSTEM := chromium:chromium /usr/lib/postgresql/*/bin/postgres:postgresql /usr/sbin/postfix:postfix procmail:procmail maildrop:maildrop java:openjdk-17-jre-headless

system:  ## Chromium, PostgreSQL, Postfix, procmail, maildrop and Java for the tests that use them, by apt; else these are skipped.
	@missing=""; for each in $(SYSTEM); do \
		command -v $${each%%:*} >/dev/null || missing="$$missing $${each#*:}"; done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing for the tests:$$missing"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -qq --yes --no-install-recommends $$missing; } >/dev/null \
		|| echo "they could not be installed: their tests are skipped (under CI=true they fail)"; \
	else \
		echo "missing:$$missing; only root on Debian may install them here: their tests are skipped (under CI=true they fail)"; \
	fi

bench: .venv/warm .venv/bench  ## Measure against the peers; write docs/benchmarks.md.
	$(BIN)/python -m benchmarks

bench-quick: .venv/warm  ## A dozen hot paths against stored ratios, in under a minute.
	@$(BIN)/python -m benchmarks.quick $(PATHS)

accuracy: .venv/warm .venv/bench  ## Measure accuracy on tables that are not shipped; write docs/accuracy.md.
	$(BIN)/python -m benchmarks.accuracy

# The development lock comes first; the others keep to its versions.
COMPILE = $(BIN)/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-header --upgrade
lock: | .venv/bin/pip  ## Resolve all dependencies anew.
	$(PIP) uv
	$(COMPILE) --all-extras --group dev pyproject.toml -o requirements-dev.txt
	$(COMPILE) --group run -c requirements-dev.txt -o requirements-run.txt
	$(COMPILE) --group bench -c requirements-dev.txt -o requirements-bench.txt

clean:  ## Remove the environment.
	rm -rf .venv

# Set-up. A change of pyproject.toml installs the package anew, a change of a lock what it lists.
.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "tallybayes needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

.venv/run: requirements-run.txt | .venv/bin/pip
	@echo "installing in .venv:" $$(sed -nE 's/^([a-z0-9-]+)==.*/\1/p' $< | uniq)
	@$(PIP) --require-hashes -r $<
	@touch $@

.venv/dev: requirements-dev.txt | .venv/bin/pip
	$(PIP) --require-hashes -r $<
	@touch .venv/run $@

.venv/bench: requirements-bench.txt .venv/dev
	$(PIP) --require-hashes -r $<
	@touch $@

.venv/package: pyproject.toml .venv/dev
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

# numba does not see that a loop in another file has changed, so its cache goes when any of them does.
.venv/warm: $(KERNELS) | .venv/package
	rm -rf .venv/numba
	$(BIN)/tallybayes warmup --quiet
	@touch $@
