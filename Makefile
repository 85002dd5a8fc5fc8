# make run: serve Nexus.  make test: everything that is tested.  make help: the rest.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# In order of their paths: a journey in a browser takes long, and the last of all should not.
PYTEST_ARGS ?= -n 2 --dist loadfile --no-loadscope-reorder

FILE ?= nexus-$(shell date +%Y-%m-%d-%H%M%S).dump

.PHONY: help run demo test test-pg15 coverage check doctor backup screenshots messages clean

help:
	@echo 'make run         serve cockpit and API (PORT=8501, NEXUS_HOME=.nexus, NEXUS_DATABASE_URL=…)'
	@echo 'make demo        fill the workspace "demo" with a year of made-up data (python -m nexus_core demo --remove)'
	@echo 'make test        run every test (PYTEST_ARGS=…; NEXUS_TEST_DATABASE_URL=… for another PostgreSQL)'
	@echo 'make test-pg15   the same on a temporary cluster of Debian'"'"'s PostgreSQL 15'
	@echo 'make coverage    the tests again, then which branches of nexus_core they leave out (slower than make test)'
	@echo 'make check       lint and types'
	@echo 'make messages    what the Spanish catalogue lacks, as JSON to fill in (docs/translating.md)'
	@echo 'make screenshots photograph every page of the demo into docs/screens'
	@echo 'make doctor      say what is wrong here and how to mend it'
	@echo 'make backup      write everything into a new file (FILE=nexus-….dump)'
	@echo 'make clean       remove the virtual environment and caches; never data'

run: $(VENV)/installed
	@$(BIN)/python -m nexus_core serve

demo: $(VENV)/installed
	@$(BIN)/python -m nexus_core demo

doctor: $(VENV)/installed
	@$(BIN)/python -m nexus_core doctor

backup: $(VENV)/installed
	@$(BIN)/python -m nexus_core backup '$(FILE)'

test: $(VENV)/installed-dev
	@sh .ci/chromium
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

test-pg15: $(VENV)/installed-dev
	@sh .ci/chromium
	@PYTHONPATH=. $(BIN)/python .ci/postgres15.py $(BIN)/python -m pytest $(PYTEST_ARGS)

coverage: $(VENV)/installed-dev
	@sh .ci/chromium
	@$(BIN)/python -m coverage erase
	@$(BIN)/python -m coverage run -m pytest $(PYTEST_ARGS); tested=$$?; \
	$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report || exit; exit $$tested

screenshots: $(VENV)/installed-dev
	@sh .ci/chromium
	@PYTHONPATH=. $(BIN)/python .ci/screenshots.py

messages: $(VENV)/installed-dev
	@$(BIN)/python -m tests.catalogue

check: $(VENV)/installed-dev
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m mypy

clean:
	rm -rf $(VENV) .coverage* .pytest_cache .hypothesis .mypy_cache .ruff_cache

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'Nexus needs Python 3.11 or newer: install it, or say PYTHON=/path/to/python.' >&2; exit 1; }
	@echo 'Making $(VENV) with $(PYTHON)…'
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo 'This Python can make no virtual environment: on Debian, apt install python3-venv.' >&2; exit 1; }

$(VENV)/installed: requirements.txt | $(BIN)/python
	@echo 'Installing what Nexus runs on; the first time takes a minute…'
	@$(PIP) -r requirements.txt
	@touch $@

$(VENV)/installed-dev: requirements-dev.txt $(VENV)/installed
	@echo 'Installing what the tests need…'
	@$(PIP) -r requirements-dev.txt
	@touch $@
