# Two commands: `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
RUNS   := $(VENV)/.runs
# Spark's classes, which every JVM then maps instead of loading them one by one.
CLASSES := $(VENV)/spark.jsa

.PHONY: demo test test-integration test-nightly check fmt lock bench bench-peers chaos soak fuzz sbom audit docs web clean
MINUTES ?= 60

# Installs what weft itself needs, and nothing of its tests, docs and benchmarks.
demo: $(RUNS) $(CLASSES)
	$(BIN)/weft demo

# Two processes, each with one Spark; tests are dealt few by few, so that neither waits for the other.
test: $(READY) $(CLASSES)
	$(BIN)/python -m pytest --numprocesses 2 --dist load --maxschedchunk 4 \
	  -m "not integration and not nightly"

# Clusters, kills and commands, each in processes of its own, two files of tests at a time; then the
# real components, whose Spark has connectors from its start. WEFT_WITHOUT=kafka,... leaves some out.
test-integration: $(READY) $(CLASSES)
	@sh scripts/browser.sh
	@sh scripts/components.sh $(BIN)/python
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder \
	  -m "integration and not nightly" \
	  tests --ignore tests/integration
	$(BIN)/python -m pytest -m "not nightly" tests/integration

# Longer forms of what CI runs: every aggregate and type on every engine, every line of PySpark, the
# soak. Before a release, and after changes of what they are about.
test-nightly: $(READY) $(CLASSES)
	$(BIN)/python -m pytest -m nightly tests

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fmt: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Every figure and table of the papers and our own studies, quick or whole (FULL=1), then their
# pictures and table.
# A benchmark that fails says why; the others go on, and the exit code tells.
bench: $(READY)
	@$(BIN)/python -m benchmarks run $(if $(FULL),--full); done=$$?; \
	  $(BIN)/python -m benchmarks draw && exit $$done

# weft beside plain Spark, Flink SQL, DuckDB, Polars and Bytewax on the same rows: docs/peers.md.
# Flink and Bytewax get environments of their own in weft's cache. FULL=1 takes hours.
bench-peers: $(READY)
	@$(BIN)/python -m benchmarks run peers $(if $(FULL),--full); done=$$?; \
	  $(BIN)/python -m benchmarks draw && exit $$done

# Faults done to streams, seeded: the table in docs/reliability.md; then a stream killed again and
# again while queries come, go and fail. Every answer is compared with the batch one.
chaos: $(READY)
	$(BIN)/python -m tests.faults --seed 0 --write docs/reliability.md
	$(BIN)/python -m tests.faults.chaos --kills 40
	$(BIN)/python -m tests.faults.chaos --kills 0 --executors 2

# A stream with queries that come and go, for an hour: memory and state flat, answers right.
soak: $(READY)
	$(BIN)/python -m tests.faults.soak --minutes $(MINUTES) --write docs/reliability.md

# Whatever reads untrusted input, fed with mutations of good input: `make fuzz MINUTES=10`.
fuzz: $(READY)
	$(BIN)/python scripts/fuzz.py --spark --minutes $(MINUTES) --write docs/reliability.md

# What is installed, as CycloneDX; and what is known against it, where that can be asked.
sbom: $(READY)
	$(BIN)/python scripts/sbom.py sbom.json

audit: $(READY)
	$(BIN)/python scripts/audit.py

# The site, into site/.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

# The dashboard's page, from web/ into the package; its built files are committed.
web:
	cd web && npm ci --no-audit --no-fund && npm run build

# requirements.lock is what weft needs, requirements-dev.lock that and what works on it. Locks hold
# hashes and no addresses, so that they install from whichever index pip is set to.
LOCK := uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
  --no-emit-index-url --no-annotate
lock: $(READY)
	$(BIN)/$(LOCK) --output-file requirements.lock pyproject.toml
	$(BIN)/$(LOCK) --constraint requirements.lock --group dev --group docs --group bench \
	  --output-file requirements-dev.lock pyproject.toml

INSTALL = $(BIN)/python -m pip install --quiet
define install
	@sh scripts/requirements.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing $(1) into $(VENV) (a few minutes the first time)"
	@$(INSTALL) --require-hashes --requirement $(1)
	@$(INSTALL) --no-deps --editable .
endef

$(RUNS): pyproject.toml requirements.lock scripts/requirements.sh
	$(call install,requirements.lock)
	@touch $@

$(READY): pyproject.toml requirements-dev.lock scripts/requirements.sh
	$(call install,requirements-dev.lock)
	@touch $(RUNS) $@

# Only a convenience: without it Spark starts more slowly.
$(CLASSES): requirements.lock | $(RUNS)
	@$(BIN)/weft prepare || echo "weft: going on without"

clean:
	rm -rf $(VENV) build dist site
