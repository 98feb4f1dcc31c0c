# make demo | test | test-slow | nightly | lint | bench | reproduce | docs: each sets up its own
# virtual environment first.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_ITERATIONS ?= 10000
DEMO_ROUNDS ?= 6
DEMO_GAME := python_goofspiel_ii(num_cards=4,points_order=descending)
# Each test module by one process, because its tests share what takes long to make.
PYTEST_FLAGS ?= -m "not slow and not docs" --numprocesses=auto --dist=loadfile
# A clone of rlg, and an environment for it, see experiments/benchmarks/rlg_peer.py; none: no such peer.
RLG ?=
RLG_PYTHON ?=

.PHONY: demo test test-slow nightly lint bench reproduce docs clean

$(VENV)/installed: setup.py pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

# The benchmark's peers are large, so they come on demand.
$(VENV)/installed-benchmark: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[benchmark]"
	touch $@

$(VENV)/installed-docs: $(VENV)/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

# Torch's threads mostly wait for each other here if the machine has other work; tests have it.
demo: export OMP_NUM_THREADS ?= 1
demo: $(VENV)/installed
	rm -rf runs/demo
	$(BIN)/python run/solve.py --game="leduc_poker" --iterations=$(DEMO_ITERATIONS) \
	    --run_dir=runs/demo/leduc_poker
	$(BIN)/python run/solve.py --iterations=$(DEMO_ITERATIONS) --run_dir=runs/demo/goofspiel_4 \
	    --game="goofspiel(num_cards=4,imp_info=True,points_order=descending)"
	@# A value network, trained on the spot, and DL-CFR+ with it beside CFR+ of the whole game.
	$(BIN)/python run/generate_data.py --game="$(DEMO_GAME)" --rounds=2 --shards=10 \
	    --tolerance=0.001 --run_dir=runs/demo/data
	$(BIN)/python run/train_on_policy.py --data=runs/demo/data --run_dir=runs/demo/network \
	    --num_rounds=$(DEMO_ROUNDS) --num_epochs=5,2,10 --num_layers=4 --num_units=200
	$(BIN)/python run/dl_cfr.py --game="$(DEMO_GAME)" --rounds=2 --run_dir=runs/demo/dl_cfr \
	    --value_function=runs/demo/network/network.safetensors

# Some tests let numba take two threads, which it refuses on one core unless it is told.
test: export OMP_NUM_THREADS ?= 1
test: export NUMBA_NUM_THREADS ?= 2
# Threads that wait for others would spin, and there are as many workers as cores.
test: export OMP_WAIT_POLICY ?= passive
# Most compiled loops run for less time here than their compilation takes, so they are optimised
# less, and kept apart from those that everybody else runs.
test: export NUMBA_OPT ?= 1
test: export NUMBA_CACHE_DIR ?= $(CURDIR)/build/numba
test: $(VENV)/installed
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

# What takes minutes each, and tests/SLOW.md when it last passed. One test builds the site.
test-slow: export OMP_NUM_THREADS ?= 1
test-slow: export NUMBA_NUM_THREADS ?= 2
test-slow: export OMP_WAIT_POLICY ?= passive
test-slow: $(VENV)/installed $(VENV)/installed-docs
	$(BIN)/python -m pytest -m slow --numprocesses=auto --dist=load

# Half an hour of kills; the report says whether every run came back to the same bits.
nightly: export OMP_NUM_THREADS ?= 1
nightly: $(VENV)/installed
	$(BIN)/python -m tests.run.kill_and_resume --output=results/robustness/kills

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@# The games lie beside the package, so types and imports are checked where setup.py puts them.
	rm -rf build/lint
	$(BIN)/python setup.py --quiet build_py --build-lib build/lint
	cp -r experiments build/lint
	@# What starts peers imports what is not installed here.
	rm -r build/lint/experiments/benchmarks build/lint/experiments/referees
	cd build/lint && MYPYPATH=../../run ../../$(BIN)/mypy --config-file ../../pyproject.toml \
	    -p spiel_dl -p experiments -m reproduce
	cd build/lint && ../../$(BIN)/lint-imports --config ../../pyproject.toml

bench: $(VENV)/installed-benchmark
	$(BIN)/python experiments/benchmarks/solvers.py --output=results/benchmarks
	$(BIN)/python experiments/benchmarks/gpu_solvers.py --output=results/benchmarks
	$(BIN)/python experiments/benchmarks/sepot.py --output=results/benchmarks
	taskset -c 0 $(BIN)/python experiments/benchmarks/learners.py --output=results/benchmarks \
	    --peer=$(RLG) --peer_python=$(RLG_PYTHON)
	$(BIN)/python experiments/benchmarks/serve.py --output=results/benchmarks
	$(BIN)/python experiments/benchmarks/five_minutes.py --output=results/benchmarks

# All experiments of the papers that have no current report: a day. ONLY=dl_cfr/goofspiel/* names some.
ONLY ?=
reproduce: export OMP_NUM_THREADS ?= 1
reproduce: $(VENV)/installed
	$(BIN)/python run/reproduce.py --all $(if $(ONLY),--only='$(ONLY)') --num_workers=2

# The code of the pages and the examples run, too.
docs: export OMP_NUM_THREADS ?= 1
docs: $(VENV)/installed-docs
	$(BIN)/python docs/hooks/build_site.py
	$(BIN)/python -m pytest -m "docs and not slow" --numprocesses=auto tests/test_docs.py tests/test_examples.py

# Not runs/, which may hold days of training.
clean:
	rm -rf build
