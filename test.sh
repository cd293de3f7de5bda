#!/bin/sh
# Everything that must hold: format and lint, types, borders between the cores, tests. Continuous integration runs this file.
# Arguments go to pytest: sh test.sh tests/engine -k adagrad
set -eu
cd "$(dirname "$0")"
extras=dev,plot
. ./venv.sh
[ $# -ne 0 ] || . ./packages.sh # tests that are asked for by name say themselves what they lack

stage() {
    echo "== $*"
    "$@"
}

stage $python -m ruff format --check .
stage $python -m ruff check .
stage $python -m mypy
(cd runtime && stage ../.venv/bin/lint-imports --config ../pyproject.toml)  # from the root it would find paddle.py
[ $# -eq 0 ] || { stage $python -m pytest "$@"; exit; }
# Tests within one process share the cores; those that start clusters have the machine to themselves.
stage $python -m pytest -n 2 --dist loadfile tests/contracts tests/engine tests/faces tests/lab tests/launch tests/pserver
stage $python -m pytest tests/cluster tests/faults
[ -n "$(packages_without $of_containers)" ] || stage sh cluster/compose/test.sh
