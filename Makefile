# Every target sets up what it needs. `make demo` is the place to start.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup browser cluster demo test faults fuzz mutants lint bench verdict docs screenshots manual wheel clean

help:
	@echo "make demo    released models at work, then a small one from nothing"
	@echo "make test    run all tests"
	@echo "make faults  kill, fill, damage and stop runs, many times; figures for docs/faults.md"
	@echo "make fuzz    files and requests that are nearly right, many times; SEED=N repeats a run"
	@echo "make mutants the package with one mistake, many times: do the tests notice?"
	@echo "make lint    ruff and mypy"
	@echo "make bench   examples a second: data for each task and encoding, training, decoding"
	@echo "make verdict MODEL=NAME  measure a released model's verdict and refined answers, without MODEL all; update docs"
	@echo "make docs    bring README.md and docs/ up to date with results/"
	@echo "make screenshots  take the pictures of the page again (needs Chromium)"
	@echo "make manual  build the manual: build/manual/index.html"
	@echo "make wheel   build the package into dist/"
	@echo "make setup   only create .venv"
	@echo "make browser install Chromium by apt-get, for the tests of the page (as root)"
	@echo "make cluster install SLURM by apt-get, for the tests of --launch slurm (as root)"

setup: .venv/done

# torch first and alone: otherwise pip may resolve it to a build with gigabytes of CUDA. A torch that
# is already in .venv (your own GPU build) and new enough stays.
.venv/done: pyproject.toml constraints.txt
	$(PYTHON) -c "import sys; sys.exit('learnalg needs Python 3.11 or newer: make PYTHON=python3.11' if sys.version_info < (3, 11) else 0)"
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -c "import torch" 2>/dev/null || $(BIN)/python -m pip install -q -r constraints.txt
	$(BIN)/python -m pip install -q -e '.[dev]'
	touch $@

browser:
	command -v chromium || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium)

cluster:
	PATH=$$PATH:/usr/sbin; command -v slurmctld slurmd munged sbatch | wc -l | grep -q 4 || (apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurmctld slurmd slurm-client munge)

demo: setup
	$(BIN)/python examples/demo.py

test: setup
	$(BIN)/python -m pytest -n 2

faults: setup
	FAULTS=long $(BIN)/python -m pytest -n 2 --dist loadfile tests/faults
	$(BIN)/learnalg docs

fuzz: setup
	seed=$${SEED:-$$(date +%s)}; echo "make fuzz SEED=$$seed"; \
	LEARNALG_FUZZ_SEED=$$seed LEARNALG_FUZZ_ROUNDS=30 $(BIN)/python -m pytest -n 2 tests/fuzz

mutants: setup
	$(BIN)/python benchmarks/mutants.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	$(BIN)/python benchmarks/data.py
	$(BIN)/learnalg bench

verdict: setup
	$(BIN)/python benchmarks/verdict.py $(MODEL)
	$(BIN)/python benchmarks/certify.py $(MODEL)
	$(BIN)/learnalg docs

docs: setup
	$(BIN)/learnalg docs
	$(BIN)/python docs/worked.py
	$(BIN)/python benchmarks/scaling.py

screenshots: setup
	$(BIN)/python docs/screenshots.py

manual: setup
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -c docs . build/manual
	@echo "build/manual/index.html"

wheel: setup
	$(BIN)/python -m pip wheel -q --no-deps -w dist .

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache build dist
