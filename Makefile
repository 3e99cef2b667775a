# The lab's commands. `make help` lists them.
SHELL := /bin/sh
PYTHON ?= python3
STACK ?= $(or $(LAB_STACK),dev)
RUN := .venv/bin/python
.DEFAULT_GOAL := help
.PHONY: help up down report shell tools check types test unit engine bench format clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "STACK=lesson make up: another stack than dev"

up: tools ## bring the lab up, and show each step of the lesson: expected, observed, ok
	@$(RUN) -m lab up --stack $(STACK)

down: .venv/ready ## destroy the lab and all that it made on this machine
	@$(RUN) -m lab down --stack $(STACK)

report: .venv/ready ## show the closing table again
	@$(RUN) -m lab report --stack $(STACK)

shell: tools ## a shell in which pulumi and kubectl work on the lab
	@$(RUN) -m lab shell --stack $(STACK)

tools: .venv/ready ## find or build the tools (about half an hour the first time)
	@$(RUN) -m toolchain tools

check: .venv/ready ## format, lint, types, unit and policy tests
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	@$(MAKE) --no-print-directory -j2 types unit

types: .venv/ready
	.venv/bin/pyright

unit: .venv/ready ## the unit and policy tests
	$(RUN) -m pytest tests/unit tests/policies

engine: tools ## the tests on the real engine and a real control plane
	$(RUN) -m pytest tests/engine

test: tools ## the whole test suite
	$(RUN) -m pytest tests

bench: tools ## measure how fast it is, beside kwokctl and kubectl
	@$(RUN) -m bench

format: .venv/ready ## format the Python files
	.venv/bin/ruff format .

clean: ## remove the environment (not the built tools, which are in the user's cache)
	rm -rf .venv

# One environment for everything, from hashes. uv comes first, by pip, and installs the rest.
.venv/ready: requirements.txt toolchain/requirements/uv.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "the lab needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; set PYTHON=python3.x")'
	@$(PYTHON) -m venv .venv || { echo "python3 -m venv failed; on Debian: apt install python3-venv" >&2; exit 1; }
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r toolchain/requirements/uv.txt
	@.venv/bin/uv pip sync --quiet --python .venv/bin/python --require-hashes requirements.txt
	@touch $@
