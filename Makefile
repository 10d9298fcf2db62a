# Everything a newcomer needs: `make demo` and `make test`, on a machine with python3 (3.11+) and make.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup demo test postgres lint bench format lock

setup: $(READY)

$(READY): pyproject.toml requirements-dev.lock scripts/setup
	scripts/setup $(VENV)
	@touch $@

# In a terminal the server goes on after the demo; in a script it ends.
demo: $(READY)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/headgate up --demo; else $(BIN)/headgate up --demo --exit-when-done; fi

test: $(READY) postgres
	$(BIN)/pytest -n auto
	$(BIN)/headgate test examples tests/scenarios

postgres:
	scripts/postgres

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(READY)
	$(BIN)/python -m bench

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Needs uv; the lock file serves uv and pip alike.
lock:
	uv pip compile pyproject.toml --extra dev --extra otel --generate-hashes --universal --python-version 3.11 \
	  --no-emit-index-url --no-header --output-file requirements-dev.lock
