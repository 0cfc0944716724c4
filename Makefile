# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test browser bench accuracy lock clean
.DEFAULT_GOAL := run

.venv/ready: requirements-dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "tallybayes needs Python 3.11 or newer; try: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: .venv/ready  ## Work through the lectures' examples.
	$(BIN)/python examples/lectures.py

test: .venv/ready browser  ## Tests, lint, types and the layer contract.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist worksteal

browser:  ## Chromium for the browser tests, where it may be installed; elsewhere these are skipped.
	@for each in chromium chromium-browser google-chrome; do \
		command -v $$each >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium for the browser tests"; \
		{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
			apt-get install -qq --yes --no-install-recommends chromium; } >/dev/null \
		|| echo "chromium could not be installed: the browser tests are skipped (under CI=true they fail)"; \
	else \
		echo "there is no chromium, and only root on Debian may install it here: the browser tests are skipped (under CI=true they fail)"; \
	fi

bench: .venv/ready  ## Measure against the peers; write docs/benchmarks.md.
	$(BIN)/python -m benchmarks

accuracy: .venv/ready  ## Measure accuracy on tables that are not shipped; write docs/accuracy.md.
	$(BIN)/python -m benchmarks.accuracy

lock: .venv/ready  ## Resolve the development dependencies anew.
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --universal --generate-hashes --python-version 3.11 --no-header \
		--upgrade --group dev pyproject.toml -o requirements-dev.txt

clean:
	rm -rf .venv
