#!/bin/sh
# One rank of a training job: a trainer and, once on each machine, a parameter server.
#
#   mpirun -hostfile machines -n 3 /home/tutorial/start_mpi_train.sh [flags] [train.py [its arguments]]
#
# It lies on every machine, in the folder that has train.py and the file machines; logs come to logs/ there.
# `start_mpi_train.sh --help` prints the flags. PYTHON names another Python than the first python3 of PATH.
here=$(cd "$(dirname "$0")" && pwd -P) || exit 1
for runtime in "$here/runtime" "$here/../../runtime"; do # of the project; otherwise the one that is installed
    [ -d "$runtime/paddle" ] && export PYTHONPATH="$runtime${PYTHONPATH:+:$PYTHONPATH}" && break
done
[ -f "$here/train.py" ] && cd "$here"
python=${PYTHON:-python3}
"$python" -I -S -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    echo "$0: on $(hostname) $python is no Python of 3.11 or newer. Name one: mpirun -x PYTHON=/path/to/python3 ..." >&2
    exit 2
}
exec "$python" -P -m paddle rank "$@"
