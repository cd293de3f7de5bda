#!/bin/sh
# Brings the cluster of docker-compose.yml up in an engine of its own, tests it and takes it down; nothing is left of it.
# Its nodes are shown this machine's programs, for speed. As root; arguments go to pytest: which tests, by default those of
# the cluster itself and of jobs on it.
set -eu
cd "$(dirname "$0")/../.."
extras=dev,plot
. ./venv.sh
[ $# -ne 0 ] || set -- tests/lab
exec $python -m pytest --cluster=compose "$@"
