#!/bin/sh
# Brings a real Kubernetes of one node up, tests the launcher on it and takes it down; nothing is left of it but what was
# built, which later runs take from the cache (PADDLE_KUBERNETES_CACHE, usually /var/cache/paddle-kubernetes). As root, on
# Debian; arguments go to pytest.
set -eu
cd "$(dirname "$0")/../.."
extras=dev,plot
. ./venv.sh
. ./packages.sh
programs=${PADDLE_KUBERNETES_CACHE:-/var/cache/paddle-kubernetes}
missing=$(packages_without $of_kubernetes)
[ -z "$missing" ] || install_packages $missing
missing=$(packages_without $of_kubernetes)
[ -z "$missing" ] || fail "What Kubernetes is built and run with is not here. As root: apt-get install $missing"
nice -n 19 sh tests/lab/kubernetes/build.sh "$programs"
[ $# -ne 0 ] || set -- tests/kubernetes
exec $python -m pytest --kubernetes="$programs" "$@"
