#!/bin/sh
# Process 1 of a node: makes a machine of fresh namespaces and an overlay of this one's files, and becomes its sshd.
# Arguments: the lab's folder, the node's name, its address, root's home, the project's folder, the folder of compiled
# kernels or nothing, folders to show.
set -eu
lab=$1 name=$2 address=$3 home=$4 project=$5 kernels=$6
shift 6
seed=$lab/seed/$name disk=$lab/disks/$name
root=$disk/root

# The disk lasts from one start to the next, /tmp does not.
rm -rf "$disk/tmp"
mkdir -p "$disk/upper" "$disk/work" "$disk/root" "$disk/own/.ssh" "$disk/hidden"
mkdir -m 1777 "$disk/tmp"
mount -t overlay -o "lowerdir=/,upperdir=$disk/upper,workdir=$disk/work" overlay "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/sshd"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"; done

# What is the launching machine's own is not here; only what is to be shown is.
mount --bind "$disk/tmp" "$root/tmp"
mount --bind "$disk/own" "$root$home"
[ ! -e "$root$project" ] || mount --bind "$disk/hidden" "$root$project"
for share in "$@"; do
    mkdir -p "$root$share"
    mount --bind "$share" "$root$share"
    mount -o remount,bind,ro "$root$share"
done
[ -z "$kernels" ] || {
    mkdir -p "$root/var/cache/kernels"
    mount --bind "$kernels" "$root/var/cache/kernels"
}

if [ ! -e "$disk/installed" ]; then
    echo "$name" >"$root/etc/hostname"
    cp "$lab/hosts" "$root/etc/hosts"
    cp "$project/cluster/compose/sshd_config" "$root/etc/ssh/sshd_config"
    [ -z "$kernels" ] || echo 'SetEnv NUMBA_CACHE_DIR=/var/cache/kernels' >>"$root/etc/ssh/sshd_config"
    rm -f "$root"/etc/ssh/ssh_host_*
    cp "$seed/host_key" "$root/etc/ssh/ssh_host_ed25519_key"
    chmod 600 "$root/etc/ssh/ssh_host_ed25519_key"
    grep -q ^paddle: "$root/etc/passwd" || {
        echo 'paddle:x:7164:7164::/srv/paddle:/bin/bash' >>"$root/etc/passwd"
        echo 'paddle:*:20000:0:99999:7:::' >>"$root/etc/shadow"
        echo 'paddle:x:7164:' >>"$root/etc/group"
    }
    mkdir -p "$root/srv/paddle"
    for owner in "root:$disk/own" "paddle:$root/srv/paddle"; do
        dot=${owner#*:}/.ssh
        mkdir -p "$dot"
        cp "$lab/head/.ssh/id_ed25519.pub" "$dot/authorized_keys"
        cp "$lab/head/.ssh/id_ed25519" "$dot/id_ed25519" # nodes log in to nodes too: mpirun does
        printf 'Host *\n    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n    LogLevel ERROR\n' >"$dot/config"
        chmod 600 "$dot"/*
        chmod 711 "${owner#*:}" # whoever else logs in reaches a Python that is shown there
        chmod 700 "$dot"
        [ "${owner%%:*}" = root ] || chown -R 7164:7164 "${owner#*:}"
    done
    : >"$disk/installed"
fi

hostname "$name"
ip link set lo up
cd "$root"
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
rmdir /.old

echo here # now it can be plugged in, which a line on standard input tells
read -r _
ip addr add "$address/16" dev eth0
ip link set eth0 up
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    /usr/sbin/sshd -D -e </dev/null >&2
