#!/bin/sh
# The example of the documents: trains the word2vec job of workspace_template on every node of conf.py.
# Options are handed on: sh run.sh --num_passes=3
set -eu
cd "$(dirname "$0")"
extras=plot
. ./venv.sh

# A signal that comes while the data is being prepared must end that process too, not only this shell.
SPLIT_COUNT=$($python -c 'import runpy; print(len(runpy.run_path("conf.py")["HOSTS"]))')
export SPLIT_COUNT
(cd workspace_template && exec "../$python" prepare.py) &
preparing=$!
trap 'kill -TERM $preparing 2>/dev/null || :; exit 130' INT
trap 'kill -TERM $preparing 2>/dev/null || :; exit 143' TERM
trap 'kill -TERM $preparing 2>/dev/null || :; exit 129' HUP
wait $preparing
trap - INT TERM HUP

exec $python paddle.py --job_dispatch_package=workspace_template "$@"
