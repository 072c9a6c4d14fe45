# make run    creates .venv, installs what is needed, starts dsgui and prints its URL
# make test   the same, plus Debian's Chromium and the test tools, then lint, types and tests
# make test-fast   what needs no browser, no DeepSpeed, no Slurm, no process of dsgui's and not many seconds each, with fewer random examples: a minute and a half
# make test-all   make test, all of it put to the real DeepSpeed again, and what takes half an hour: every fix over every config
# make screenshots   every page as a picture, and a contact sheet of them: test-artifacts/screenshots/index.html (ARGS=--readme: the README's two)
# make walkthrough   twelve tasks in a real browser, their clicks, keys and seconds: docs/walkthrough.md
# make test-loaded   the tests beside four processes that do nothing but compute
# make confirm   runs all that tests/answers/confirmed.json says was seen to hold, and writes that file
# Options for the app go in ARGS: make run ARGS="--port 8000 --python /path/to/env/bin/python"

PYTHON ?=
ARGS ?=
# Images of containers often set it: each of the many processes here would compile torch and transformers anew.
export PYTHONDONTWRITEBYTECODE :=
VENV := .venv
BIN := $(VENV)/bin
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --durations=25
# Tests at once, on two cores: some compute, most wait, for ends, files and sockets.
WORKERS := 3
# Pictures of the Chinese pages need a font of 60 MB that no test does.
PICTURES :=
screenshots walkthrough: PICTURES := --pictures
# What needs more than Python.
OUTSIDE := browser or deepspeed or machines
NPM := PATH="$(abspath $(BIN)):$$PATH" npm

.PHONY: run test test-fast test-all test-loaded confirm check checked-python checked-scripts collected audit unit ops setup setup-dev programs packages screenshots walkthrough docs matrix release chaos bench bench-runs bench-monitor bench-memory gpu-memory clean

run: setup
	@$(BIN)/python app.py $(ARGS)

setup:
	@PYTHON="$(PYTHON)" sh scripts/setup_env.sh requirements.txt

# Debian's programs and Python's packages at the same time: each waits for a network most of its time.
setup-dev:
	@$(MAKE) --no-print-directory --jobs=2 programs packages PICTURES=$(PICTURES)

programs:
	@sh scripts/setup_test_programs.sh $(PICTURES)

packages: setup
	@PYTHON="$(PYTHON)" sh scripts/setup_env.sh requirements-dev.txt && sh scripts/setup_node.sh

# What needs no program of Debian's begins while these are fetched.
test:
	@$(MAKE) --no-print-directory programs & programs=$$!; \
	$(MAKE) --no-print-directory packages || { wait $$programs; exit 2; }; \
	$(MAKE) --no-print-directory --jobs=3 --output-sync check collected; checked=$$?; \
	wait $$programs && [ $$checked -eq 0 ] && $(MAKE) --no-print-directory unit

test-all: setup-dev check
	@$(NPM) run --silent test
	DSGUI_SEARCH=1 $(PYTEST) --complete $(ARGS)

# None of these waits: a third worker would only be in the way.
test-fast: WORKERS := 2
test-fast: setup-dev
	@$(NPM) run --silent test
	$(PYTEST) --hypothesis-profile=fast -m "not ($(OUTSIDE) or processes or slow)" $(ARGS)

test-loaded: setup-dev
	@$(BIN)/python scripts/beside_load.py 4 -- $(MAKE) --no-print-directory unit

confirm: setup-dev
	rm -f tests/answers/confirmed.json
	$(PYTEST) --confirm $(ARGS)

check: checked-python checked-scripts

checked-python:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

checked-scripts:
	@$(NPM) run --silent check

# The tests' modules are compiled once, with pytest's own assertions: each worker took as long as all of them do here.
collected:
	@$(BIN)/python -m pytest --collect-only --quiet >/dev/null || true  # the tests themselves say why

unit:
	@$(NPM) run --silent test
	$(PYTEST) $(ARGS)

ops:
	@echo "dsgui: compiling DeepSpeed's CPU operators (the first time takes some minutes)"
	@$(BIN)/python scripts/build_ops.py >/dev/null

audit: setup-dev
	$(BIN)/python -m pip_audit --requirement requirements.txt --no-deps --disable-pip

screenshots: setup-dev
	$(BIN)/python scripts/screenshots.py $(ARGS)

# What trains here would wait for operators to be compiled.
walkthrough: setup-dev ops
	$(BIN)/python scripts/walkthrough.py

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

# How far the instant answer of the memory model is from DeepSpeed's own engine on tensors without storage.
bench-memory: setup-dev
	$(BIN)/python -m benchmarks.memory_formula $(ARGS)

# The same beside real kernels, on one card: nothing is said where there is none. make gpu-memory ARGS="--out FILE"
gpu-memory: setup-dev
	$(BIN)/python -m benchmarks.gpu_memory $(ARGS)

clean:
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis test-artifacts
