# make        builds .venv
# make run    starts the server on this machine, ready to use
# make test   checks style and types, and runs the tests
# make screenshots   takes pictures of every page of the dashboard

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The tests start hundreds of processes: whatever the machine says, compile the code once.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: all run test test-long lint browser screenshots lock audit-deps sbom clean

all: $(VENV)/.ready

$(VENV)/.ready: requirements.lock pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

run: all
	$(BIN)/rem serve

lint: all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The pages are tested in a real browser: the one of this machine, or one that is fetched.
browser: all
	$(BIN)/python -m tests.browser.fetch

screenshots: browser
	$(BIN)/python -m tests.browser.photographs docs/screenshots

test: lint browser
	$(BIN)/python -m pytest -n 3 --maxschedchunk 4

# Every test on both engines, with many more random examples, and the tests that LangGraph publishes
# for its own stores.
test-long: all
	REM_LONG=1 $(BIN)/python -m pytest -n 2 --maxschedchunk 4
	$(BIN)/python -m tests.integrations.langgraph_suite

# Exact versions of everything, from the minimums in pyproject.toml; no index addresses.
lock:
	rm -rf .lock && $(PYTHON) -m venv .lock
	.lock/bin/python -m pip install --quiet --disable-pip-version-check -e '.[postgres,server,traces,dev]'
	.lock/bin/python -m pip freeze --exclude-editable > requirements.lock
	rm -rf .lock

# Known vulnerabilities of the pinned dependencies. OSV=DIRECTORY reads advisories from there, without
# a network; otherwise pip-audit asks its service.
audit-deps: all
ifdef OSV
	$(BIN)/python -m tests.supply_chain.audit --database $(OSV)
else
	test -x .audit/bin/pip-audit || $(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/python -m tests.supply_chain.audit --pip-audit .audit/bin/pip-audit
endif

# What the product consists of, with licences and checksums, as CycloneDX.
sbom: all
	$(BIN)/python -m tests.supply_chain.sbom > sbom.json

clean:
	rm -rf $(VENV) .audit sbom.json .mypy_cache .ruff_cache
