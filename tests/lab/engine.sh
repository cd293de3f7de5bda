#!/bin/sh
# Process 1 of an engine of containers: what it writes outside of its folder is seen by nobody else, and its end is
# the end of all containers. Arguments: the folder, the name of the control groups.
set -eu
folder=$1 group=$2
mkdir -p "$folder"
mount -t tmpfs tmpfs "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/data"
mount -t overlay -o "lowerdir=/etc,upperdir=$folder/upper,workdir=$folder/work" overlay /etc
mount -t tmpfs tmpfs /run
mount -t proc proc /proc
dockerd --host unix:///run/docker.sock --data-root "$folder/data" --exec-root /run/docker --pidfile /run/docker.pid \
    --cgroup-parent "/$group" --bridge none --iptables=false --ip-masq=false --ip-forward=false &
wait # also for what containers leave behind
