#!/bin/sh
# Process 1 of a machine, as its only user: the keys of the Secret where ssh looks for them, readable by nobody else, and
# sshd.
set -eu
umask 077
mkdir -p ~/.ssh
cp /run/keys/* ~/.ssh/
exec /usr/sbin/sshd -D -e
