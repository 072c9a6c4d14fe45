# make run    creates .venv, installs what is needed, starts dsgui and prints its URL
# make test   the same, plus Debian's Chromium and the test tools, then lint, types and tests
# make test-all   make test, and what takes half an hour: every fix over every config, put to the real DeepSpeed
# Options for the app go in ARGS: make run ARGS="--port 8000 --python /path/to/env/bin/python"

PYTHON ?=
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
NPM := PATH="$(abspath $(BIN)):$$PATH" npm

.PHONY: run test test-all check audit unit ops setup setup-dev screenshots docs matrix release chaos bench bench-runs bench-monitor clean

run: setup
	@$(BIN)/python app.py $(ARGS)

setup:
	@PYTHON="$(PYTHON)" sh scripts/setup_env.sh requirements.txt

setup-dev: setup
	@PYTHON="$(PYTHON)" sh scripts/setup_env.sh requirements-dev.txt
	@sh scripts/setup_test_programs.sh
	@sh scripts/setup_node.sh

test: setup-dev check unit

test-all: setup-dev check ops
	@$(NPM) run --silent test
	$(BIN)/python -m pytest -n 2 --dist loadfile --complete --durations=25 $(ARGS)

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@$(NPM) run --silent check

unit: ops
	@$(NPM) run --silent test
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=25 $(ARGS)

ops:
	@echo "dsgui: compiling DeepSpeed's CPU operators (the first time takes some minutes)"
	@$(BIN)/python scripts/build_ops.py >/dev/null

audit: setup-dev
	$(BIN)/python -m pip_audit --requirement requirements.txt --no-deps --disable-pip

screenshots: setup-dev
	$(BIN)/python scripts/screenshots.py

docs: setup-dev
	$(BIN)/python scripts/config_reference.py
	$(BIN)/python scripts/browser_catalogue.py
	$(BIN)/python scripts/rules_reference.py

# Asks seven releases of DeepSpeed about tests/examples; installs those that are not there into .overlays/.
matrix: setup-dev
	$(BIN)/python scripts/verify_examples.py $(ARGS)
	$(BIN)/python scripts/rules_reference.py

# What a DeepSpeed release changes: keys, defaults, answers to the examples. make release VERSION=0.19.9
release: setup-dev
	$(BIN)/python scripts/release_changes.py $(VERSION)

bench: setup-dev
	$(BIN)/python -m benchmarks.run

# Kills dsgui's processes and a training's at random, a thousand times, and looks at what is left: ten minutes.
chaos: setup-dev
	$(BIN)/python -m tests.support.chaos $(ARGS)

# What owning a run costs: about a quarter of an hour of real trainings.
bench-runs: setup-dev
	$(BIN)/python -m benchmarks.supervisor
	$(BIN)/python -m benchmarks.sampling
	$(BIN)/python -m benchmarks.flood
	$(BIN)/python -m benchmarks.overhead

# What watching a run costs, beside TensorBoard; how fast output is read; takes ten minutes.
bench-monitor: setup-dev
	$(BIN)/python -m benchmarks.monitor
	$(BIN)/python -m benchmarks.parsing

clean:
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis test-artifacts
