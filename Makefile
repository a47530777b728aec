# `make help` lists what this file can do. Every target does its own set-up.
PY := .venv/bin/python
UV := .venv/bin/uv
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev check test drill faults bench mutants eval docs lock migration promql-report pictures proven clean

help: ## list these targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/.run: requirements.lock pyproject.toml requirements-uv.lock
	python3.11 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.lock
	$(UV) pip install --quiet --python $(PY) --compile-bytecode --require-hashes -r requirements.lock
	@touch $@

.venv/.ready: .venv/.run requirements-build.lock
	$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements-build.lock
	$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation -e .
	# Ours too: where Python may not write bytecode, every start would compile it again.
	$(PY) -m compileall -q bot cards engine storage
	@touch $@

.venv/.dev: .venv/.ready requirements-dev.lock
	$(UV) pip install --quiet --python $(PY) --compile-bytecode --require-hashes -r requirements-dev.lock
	@git config core.hooksPath .githooks 2>/dev/null || true
	@touch $@

setup: .venv/.ready ## install what running needs
setup-dev: .venv/.dev ## install what developing needs

check: .venv/.dev ## format, lint, types, contracts
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-cache

test: .venv/.dev ## every test, set-up included
	./tests/components
	$(PY) -m pytest -n 2

drill: .venv/.ready ## the whole life of a card: no account, no key
	.venv/bin/caveat drill

faults: .venv/.dev ## slow tests against real servers, installed when we are root
	./tests/components faults
	$(PY) -m pytest -n 0 -m faults -s tests/faults

bench: .venv/.dev ## speed, memory, tokens: prints its figures
	$(PY) -m tests.bench

eval: .venv/.dev ## how often a wrong cause is stamped verified, beside accuracy and abstention
	$(PY) -m tests.eval

mutants: .venv/.dev ## put small faults into the code that judges; ends when its minutes are over
	$(PY) -m tests.mutants --minutes $(or $(MINUTES),45) --most $(or $(MOST),0) $(MODULES)

lock: .venv/.dev ## resolve the locks again
	$(UV) pip compile pyproject.toml -o requirements.lock $(LOCK)
	$(UV) pip compile pyproject.toml --extra dev -o requirements-dev.lock $(LOCK)
	printf 'hatchling\neditables\n' | $(UV) pip compile - -c requirements-dev.lock -o requirements-build.lock $(LOCK)
	echo uv | $(UV) pip compile - -o requirements-uv.lock $(LOCK)
LOCK := --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate

docs: .venv/.dev ## render the reference pages from the code
	$(PY) -m tests.docs.render

migration: .venv/.dev ## write the first migration again from storage/tables.py (before the first release only)
	$(PY) -m tests.migration

promql-report: .venv/.dev ## what the local PromQL check gets right and wrong on the corpora
	$(PY) -m tests.reports.promql

pictures: .venv/.dev ## draw every state of the card into docs/pictures (needs Chromium and npm)
	$(PY) -m tests.reports.pictures

proven: .venv/.dev ## list the requirements that have a test as their proof
	$(PY) -m tests.proven

clean: ## remove what set-up made
	rm -rf .venv .caveat
