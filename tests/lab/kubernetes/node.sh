#!/bin/sh
# Process 1 of a Kubernetes of one node: what it writes outside of its folder is seen by nobody else, and its end is the
# end of all pods. Arguments: the folder, the name of the control groups, the folder of programs, the node's address, a
# Python.
set -eu
folder=$1 group=$2 programs=$3 address=$4 python=$5
here=$(cd "$(dirname "$0")" && pwd -P)
mkdir -p "$folder"
mount -t tmpfs -o mode=755 tmpfs "$folder"
mkdir "$folder/upper" "$folder/work" "$folder/data" "$folder/etcd" "$folder/kubelet" "$folder/plugins" "$folder/logs" "$folder/volumes"
mount -t overlay -o "lowerdir=/etc,upperdir=$folder/upper,workdir=$folder/work" overlay /etc
for place in /run /var/lib /var/log; do mount -t tmpfs tmpfs $place; done
mount -t proc proc /proc
mount --make-rshared / # pods are shown volumes that kubelet mounts later
mkdir /var/log/pods /var/log/containers
: >"$folder/resolv.conf" # nobody outside is asked for a name

# A negative score is forbidden to a root without CAP_SYS_RESOURCE, and kubelet gives one to whatever holds a pod.
cat >"$folder/runc" <<'RUNC'
#!/bin/sh
bundle= before= creates=
for word in "$@"; do
    case $before in --bundle | -b) bundle=$word ;; esac
    [ "$word" != create ] || creates=yes
    before=$word
done
[ -z "$creates" ] || sed -i 's/"oomScoreAdj": *-[0-9]*/"oomScoreAdj":0/' "$bundle/config.json"
exec runc "$@"
RUNC
chmod +x "$folder/runc"

part() { # a name, and a command: started, with a log of its own
    log=$folder/logs/$1.log
    shift
    "$@" >"$log" 2>&1 &
}

wait_for() { # what, and a command that succeeds when it is there
    what=$1 tries=600
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "waited 60 s for $what" >&2; exit 1; }
        sleep 0.1
    done
}

part dockerd dockerd --host unix:///run/docker.sock --data-root "$folder/data" --exec-root /run/docker --pidfile /run/docker.pid \
    --cgroup-parent "/$group" --bip "$address/16" --iptables=false --ip-masq=false --ip-forward=false \
    --add-runtime "node=$folder/runc" --default-runtime node
part etcd etcd --data-dir "$folder/etcd" --unsafe-no-fsync=true --log-level error \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
wait_for "the network of docker" ip address show to "$address"

cd "$folder"
openssl genrsa -out accounts.key 2048 2>/dev/null
: >tokens.csv
chmod 600 tokens.csv
user() { # its file, name and group: a token, and how it is shown
    token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    echo "$token,$2,$2,$3" >>tokens.csv
    (umask 077 && cat >"$1.conf") <<USER
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://$address:6443", certificate-authority: $folder/server/apiserver.crt}}]
contexts: [{name: lab, context: {cluster: lab, user: $1, namespace: default}}]
current-context: lab
users: [{name: $1, user: {token: $token}}]
USER
}
user admin admin system:masters
user controllers system:kube-controller-manager system:controllers
user scheduler system:kube-scheduler system:schedulers
user node system:node:node1 system:nodes
user names names system:masters
user launcher launcher people

part apiserver "$programs/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --cert-dir "$folder/server" \
    --bind-address "$address" --advertise-address "$address" --secure-port 6443 --service-cluster-ip-range 10.96.0.0/24 \
    --service-account-key-file accounts.key --service-account-signing-key-file accounts.key \
    --service-account-issuer https://lab --authorization-mode Node,RBAC --token-auth-file tokens.csv \
    --enable-admission-plugins PodSecurityPolicy --kubelet-preferred-address-types InternalIP
wait_for "the API server" "$programs/kubectl" --kubeconfig admin.conf get --raw /readyz

part controllers "$programs/kube-controller-manager" --kubeconfig controllers.conf --service-account-private-key-file accounts.key \
    --use-service-account-credentials --leader-elect=false --bind-address 127.0.0.1 --port 0 --cert-dir "$folder/controllers" \
    --root-ca-file "$folder/server/apiserver.crt"
part scheduler "$programs/kube-scheduler" --kubeconfig scheduler.conf --leader-elect=false --bind-address 127.0.0.1 --port 0 \
    --cert-dir "$folder/scheduler"
wait_for docker docker --host unix:///run/docker.sock info
mkdir pause
cp "$programs/pause" pause/
tar -C pause -c pause | docker --host unix:///run/docker.sock import --change 'CMD ["/pause"]' - pause:lab >/dev/null
part kubelet "$programs/kubelet" --kubeconfig node.conf --docker-endpoint unix:///run/docker.sock --pod-infra-container-image pause:lab \
    --cgroup-driver cgroupfs --cgroups-per-qos=false --enforce-node-allocatable= --fail-swap-on=false --hostname-override node1 \
    --node-ip "$address" --root-dir "$folder/kubelet" --cert-dir "$folder/kubelet-papers" --volume-plugin-dir "$folder/plugins" \
    --address "$address" --healthz-bind-address 127.0.0.1 --read-only-port 0 --authorization-mode AlwaysAllow --anonymous-auth=true \
    --cluster-dns "$address" --cluster-domain cluster.local --resolv-conf "$folder/resolv.conf" --network-plugin= \
    --image-gc-high-threshold 100 --eviction-hard= --allowed-unsafe-sysctls net.ipv4.ip_unprivileged_port_start
part names "$python" -I -S "$here/names.py" names.conf "$folder/server/apiserver.crt" "$address"
wait # also for what pods leave behind
