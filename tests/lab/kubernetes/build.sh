#!/bin/sh
# Builds Kubernetes 1.20 from Debian 12's source package into a folder, unless it is there already: the last that Debian has
# whole. Takes a quarter of an hour of one core, once; what is kept is 400 MB. Argument: the folder.
set -eu
version=v1.20.2
parts="kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl"
folder=$1
mkdir -p "$folder"

# Its source, from where this machine has its packages from; and what it needs of others is in it.
fetch() {
    mkdir -p apt/lists/partial apt/parts
    for list in $(grep -lrs debian /etc/apt/sources.list /etc/apt/sources.list.d); do
        sed -E 's/^Types: .*/Types: deb-src/; s/^deb /deb-src /' "$list" >"apt/parts/${list##*/}"
    done
    set -- -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$PWD/apt/parts" -o Dir::State::lists="$PWD/apt/lists"
    apt-get "$@" update
    apt-get "$@" source --download-only kubernetes
}

build() {
    rm -rf src home
    mkdir -p src home bin
    tar -xf kubernetes_*really1.20*.orig.tar.gz -C src --strip-components=1
    targets=
    for part in $parts; do targets="$targets cmd/$part"; done
    cd src
    export CGO_ENABLED=0 GOPROXY=off GOFLAGS=-mod=vendor GOPATH="$PWD/.go" HOME="$PWD/../home" KUBE_GIT_VERSION=$version
    mkdir -p .go/src/k8s.io
    ln -sfn ../../.. .go/src/k8s.io/kubernetes
    make WHAT="${targets# }"
    for part in $parts; do cp -L "_output/bin/$part" ../bin/; done
    gcc -Os -static -DVERSION=3.2 -o ../bin/pause build/pause/linux/pause.c
    cd ..
    chmod -R u+w src
    rm -rf src home apt kubernetes_*
}

if [ "${2:-}" = now ]; then
    cd "$folder"
    fetch
    build
    touch built-$version
    exit
fi
exec 9>"$folder/lock"
flock 9 # whoever comes second finds it built
[ ! -e "$folder/built-$version" ] || exit 0
echo "building Kubernetes $version in $folder (once, for a quarter of an hour; what it says is in $folder/build.log)"
sh "$0" "$folder" now >"$folder/build.log" 2>&1 || {
    tail -n 20 "$folder/build.log" >&2
    echo "Kubernetes $version could not be built; all that was said is in $folder/build.log. What it is built from is the" \
        "source package of Debian 12, and Debian's golang-go, gcc and make." >&2
    exit 1
}
