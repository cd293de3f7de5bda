# Sourced by test.sh: programs of the machine that tests use, each with Debian's package. What is missing is installed
# where this is root and apt is there; elsewhere it is named, with what is left out. With CI set it is a failure.

of_clusters="sshd:openssh-server ssh:openssh-client ip:iproute2 tc:iproute2 nft:nftables
    unshare:util-linux nsenter:util-linux setpriv:util-linux openssl:openssl mpirun:openmpi-bin
    slurmctld:slurm-wlm slurmd:slurm-wlm srun:slurm-wlm"
of_containers="dockerd:docker.io docker:docker.io docker-compose:docker-compose"
of_pages="chromium:chromium" # or Chrome
! command -v google-chrome >/dev/null || of_pages=
of_benchmarks="rsync:rsync"
of_kubernetes="go:golang-go gcc:gcc make:make etcd:etcd-server rsync:rsync" # asked for by cluster/kubernetes/test.sh alone

packages_without() { # the packages of those programs that are not there
    for need in "$@"; do
        (PATH=$PATH:/usr/sbin:/sbin command -v "${need%%:*}" >/dev/null) || echo "${need#*:}"
    done | sort -u | xargs
}

install_packages() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    echo "installing $*"
    policy=/usr/sbin/policy-rc.d
    [ -e $policy ] && policy= || { echo 'exit 101' >$policy && chmod +x $policy; } # tests start what they need: no service
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null || :
    [ -z "$policy" ] || rm $policy
}

leave_out() { # what, and the packages that are missing for it
    [ -n "$2" ] || return 0
    said="left out: $1; what they need is not here (apt-get install $2)"
    [ -z "${CI:-}" ] || fail "$said"
    echo "$said"
}

missing=$(packages_without $of_clusters $of_containers $of_benchmarks)
[ -z "$missing" ] || install_packages $missing
missing=$(packages_without $of_pages) # by itself: not every distribution has it, and then apt would install nothing
[ -z "$missing" ] || install_packages $missing
leave_out "tests on clusters of nodes" "$(packages_without $of_clusters)"
leave_out "tests on clusters of containers" "$(packages_without $of_containers)"
leave_out "looks at pages in a browser" "$(packages_without $of_pages)"
leave_out "benchmarks against rsync" "$(packages_without $of_benchmarks)"
