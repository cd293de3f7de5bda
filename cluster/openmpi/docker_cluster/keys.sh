#!/bin/sh
# Makes the keys of a cluster of machines in the folder ssh, unless they are there, and prints the Secret that has them:
#
#     sh keys.sh | kubectl create -f -
#
# Then, for commands such as `ssh -i ssh/id_rsa.mpi.pub tutorial@ADDRESS`, let an agent have the private half:
#
#     eval "$(ssh-agent)" && ssh-add ssh/id_rsa.mpi
#
# All machines show one host key, whose fingerprint is that of ssh/host_key.pub.
# Who has ssh/id_rsa.mpi can log in to every machine. It belongs into no repository; git is told to leave it alone.
set -eu
umask 077
mkdir -p ssh
[ -e ssh/.gitignore ] || echo '*' >ssh/.gitignore
[ -e ssh/id_rsa.mpi ] || ssh-keygen -q -t rsa -b 3072 -N '' -C paddle -f ssh/id_rsa.mpi
[ -e ssh/host_key ] || ssh-keygen -q -t ed25519 -N '' -C machines -f ssh/host_key
printf '* %s\n' "$(cat ssh/host_key.pub)" >ssh/known_hosts # of machines, which know nobody else

file() { # how the Secret has one
    echo "  $1: |"
    sed 's/^/    /' "$2"
}

cat <<SECRET
apiVersion: v1
kind: Secret
metadata:
  name: ssh-keys
  labels: {app.kubernetes.io/name: paddle}
stringData:
SECRET
file authorized_keys ssh/id_rsa.mpi.pub
file known_hosts ssh/known_hosts
file id_rsa.mpi ssh/id_rsa.mpi
file host_key ssh/host_key
