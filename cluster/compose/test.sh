#!/bin/sh
# Brings the cluster of docker-compose.yml up in an engine of its own, tests it and takes it down; nothing is left of it.
# Its nodes are shown this machine's programs, for speed. As root; arguments go to pytest: `tests/cluster` is all that a
# cluster can be asked. Without any it is a stage of test.sh: nodes as the Dockerfile makes them; faults as peers see them,
# and word2vec, which is interrupted and then trained to the parameters that it has without machines; a launcher that is
# killed while it sends leaves nothing.
set -eu
cd "$(dirname "$0")/../.."
extras=dev,plot
. ./venv.sh
[ $# -ne 0 ] || set -- tests/lab tests/cluster/test_ssh.py tests/cluster/test_dispatch_faults.py \
    -k "shipped or test_faults or test_lab or word2vec or launcher_killed"
exec $python -m pytest --cluster=compose "$@"
