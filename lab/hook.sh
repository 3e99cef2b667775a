#!/bin/sh
# `lab check` for pre-commit, in the checkout that pre-commit made: the first run makes its environment.
set -eu
repo=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
make --silent -C "$repo" .venv/ready >&2
# -P: a folder of the checked repository that is called `lab` is not this one.
PYTHONPATH="$repo" exec "$repo/.venv/bin/python" -P -m lab check "$@"
