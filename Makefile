# Two commands: `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test test-integration check fmt lock bench chaos soak fuzz sbom audit docs web clean
MINUTES ?= 60

demo: $(READY)
	$(BIN)/weft demo

# Two processes: pure tests in both, then Spark's batch tests in one and its streams in the other.
test: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m "not integration"

# Clusters, kills and commands, each in processes of its own, one after the other; then the real
# components, whose Spark has connectors from its start. WEFT_WITHOUT=kafka,... leaves some out.
test-integration: $(READY)
	@sh scripts/browser.sh
	@sh scripts/components.sh $(BIN)/python
	$(BIN)/python -m pytest -m integration tests --ignore tests/integration
	$(BIN)/python -m pytest tests/integration

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
	$(BIN)/mkdocs build --strict --clean

# The dashboard's page, from web/ into the package; its built files are committed.
web:
	cd web && npm ci --no-audit --no-fund && npm run build

# The lock holds hashes and no addresses, so that it installs from whichever index pip is set to.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
	  --no-emit-index-url --no-annotate --group dev --group docs --group bench --output-file requirements.lock pyproject.toml

$(READY): pyproject.toml requirements.lock scripts/requirements.sh
	@sh scripts/requirements.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

clean:
	rm -rf $(VENV) build dist site
