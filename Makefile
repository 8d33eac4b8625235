# Two commands: `make demo` runs the main job, `make test` the tests; each sets up what it needs.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test test-integration check fmt lock bench chaos docs clean

demo: $(READY)
	$(BIN)/weft demo

# Two processes: pure tests in both, then Spark's batch tests in one and its streams in the other.
test: $(READY)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadgroup -m "not integration"

# Clusters, kills and commands, each in processes of its own, one after the other; then the real
# components, whose Spark has connectors from its start. WEFT_WITHOUT=kafka,... leaves some out.
test-integration: $(READY)
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

bench: $(READY)
	$(BIN)/weft bench plan

# A stream killed again and again while queries come and go; its answers against the batch ones.
chaos: $(READY)
	$(BIN)/python -m weft.spark.streaming.chaos --kills 20
	$(BIN)/python -m weft.spark.streaming.chaos --kills 0 --executors 2

# The site, into site/. Its tools are a group of their own, which only this target installs.
docs: $(READY)
	@$(BIN)/python -m pip install --quiet "pip>=25.1"
	@$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/mkdocs build --strict --clean

# The lock holds hashes and no addresses, so that it installs from whichever index pip is set to.
lock: $(READY)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.10 --generate-hashes \
	  --no-emit-index-url --no-annotate --group dev --output-file requirements.lock pyproject.toml

$(READY): pyproject.toml requirements.lock scripts/requirements.sh
	@sh scripts/requirements.sh $(PYTHON)
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) (a few minutes the first time)"
	@$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

clean:
	rm -rf $(VENV) build dist site
