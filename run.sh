#!/bin/sh
# The example of the documents: trains the word2vec job of workspace_template on every node of conf.py.
# Options are handed on: sh run.sh --num_passes=3
set -eu
cd "$(dirname "$0")"
extras=plot
. ./venv.sh

exec $python paddle.py --job_dispatch_package=workspace_template --job_prepare=prepare.py "$@"
