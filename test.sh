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
# Tests that wait for what they look at share the cores, those of little jobs and of nodes of their own, too. Those that break
# something promise times, and have the machine to themselves, but for those that ask only what comes of it. Pages that take
# minutes to type are typed by who changes them: sh test.sh -m page tests/cluster. So it is with what asks once more, in
# another way, what others have asked: sh test.sh -m thorough tests/cluster tests/faults tests/pserver
at_once="--dist loadfile --no-loadscope-reorder"
stage $python -m pytest -n 3 $at_once -m "not thorough" tests/contracts tests/data tests/engine tests/faces tests/fleet tests/lab tests/launch tests/program tests/pserver
stage $python -m pytest -n 4 $at_once tests/cluster tests/faults -m "(lab or patient or not faults) and not page and not thorough"
stage $python -m pytest tests/cluster tests/faults -m "faults and not lab and not patient and not thorough"
[ -n "$(packages_without $of_containers)" ] || stage sh cluster/compose/test.sh
