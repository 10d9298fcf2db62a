# Everything a newcomer needs: `make demo` and `make test`, on a machine with python3 (3.11+) and make.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
RUNS := $(VENV)/.runs

.PHONY: setup demo check test hunt postgres chromium kube lint bench format lock pictures

setup: $(READY)

$(READY): pyproject.toml requirements-dev.lock scripts/setup
	scripts/setup $(VENV)
	@touch $@

# What a developer has, runs too.
$(RUNS): pyproject.toml requirements.lock scripts/setup
	[ -f $(READY) ] || scripts/setup --run-only $(VENV)
	@touch $@

# In a terminal the server goes on after the demo; in a script it ends.
demo: $(RUNS)
	@if [ -t 0 ] && [ -t 1 ]; then $(BIN)/headgate up --demo; else $(BIN)/headgate up --demo --exit-when-done; fi

# What a contributor runs before every commit: everything that decides, without servers. The scenarios take one core, so
# they are played beside the rest; what they print comes when they are over.
check: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint-and-levels scenarios

.PHONY: lint-and-levels scenarios
lint-and-levels: lint
	$(BIN)/pytest -n 2 tests/kernel tests/cel tests/fleet tests/graph tests/workload tests/cluster \
		tests/test_imports.py tests/docs/test_architecture.py tests/docs/test_glossary.py

scenarios: $(READY)
	$(BIN)/headgate test examples tests/scenarios

# Random runs with a known seed belong to the tests: they fail only for a change. What `make hunt` finds with fresh seeds is
# no fault of the change at hand, so it is told and does not fail them; it becomes a scenario, and then it does.
#
# The control plane of the Kubernetes tests is built while the others run, and these come last. What
# fails there among the others is run once more alone: a real cluster on a busy machine is late at times, and so is a browser.
KNOWN_SEED := 20261116
test: $(READY) postgres chromium kube
	HEADGATE_SEED=$(KNOWN_SEED) $(BIN)/pytest -n auto --ignore=tests/properties --ignore=tests/console -m "not kubernetes"
	$(BIN)/pytest -n auto --dist loadfile tests/console \
		|| $(BIN)/pytest tests/console --last-failed --last-failed-no-failures none
	HEADGATE_SEED=$(KNOWN_SEED) $(BIN)/pytest -n auto tests/properties
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target scenarios told-hunt
	$(BIN)/pytest -n auto -m kubernetes tests/kubernetes \
		|| $(BIN)/pytest -m kubernetes tests/kubernetes --last-failed --last-failed-no-failures none

# Orders of events that nobody thought of, others each time; EXAMPLES=50 looks for fifty times as long.
EXAMPLES := 0.5
hunt: $(READY)
	HEADGATE_EXAMPLES=$(EXAMPLES) $(BIN)/pytest -n auto tests/properties

.PHONY: told-hunt
told-hunt:
	@$(MAKE) --no-print-directory hunt EXAMPLES=0.2 || echo "make hunt found something: the seed and the scenario are above"

# The screens of the documentation, as the tests of the console see them.
pictures: $(READY) chromium
	HEADGATE_PICTURES=docs/images $(BIN)/pytest tests/console/test_pictures.py

postgres:
	scripts/postgres

chromium:
	scripts/chromium

# Exits with 77 where it cannot be built, after saying so; the tests that need it are skipped then.
kube:
	@scripts/kube --in-background || [ $$? = 77 ]

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

# Needs uv; the lock files serve uv and pip alike. What runs in users' hands is what the tests ran with.
LOCKING := --generate-hashes --universal --python-version 3.11 --no-emit-index-url --no-header
lock:
	uv pip compile pyproject.toml --extra dev --extra otel $(LOCKING) --output-file requirements-dev.lock
	uv pip compile pyproject.toml --constraint requirements-dev.lock --no-annotate $(LOCKING) --output-file requirements.lock
