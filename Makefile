# Every target sets up what it needs in .venv; nothing has to be installed by hand.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: run test bench accuracy lock clean
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

test: .venv/ready  ## Tests, lint, types and the layer contract.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist worksteal

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
