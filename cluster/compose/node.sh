#!/bin/sh
# Process 1 of a node: a host key that nobody has had before, a key to log in with, and sshd.
set -eu
[ -e /etc/ssh/ssh_host_ed25519_key ] || ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key
for owner in root paddle; do
    home=$(getent passwd $owner | cut -d: -f6)
    mkdir -p "$home/.ssh"
    cp /run/cluster/authorized_key "$home/.ssh/authorized_keys"
    chmod 700 "$home/.ssh"
    chmod 600 "$home/.ssh/authorized_keys"
    chown -R $owner:$owner "$home/.ssh"
done
mkdir -p /run/sshd
exec /usr/sbin/sshd -D -e
