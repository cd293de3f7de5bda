"""What to do about what a cluster says of a pod, by the flags of a launch.

Pure. It must never know how that was asked. Guarantee: what is advised names a flag that there is.
"""

from __future__ import annotations

_MEMORY = "--{kind}_memory=2Gi, say, gives each more"
_ADVICE = (  # what stands in what it says, in small letters: what to do
    ("oomkilled", f"it had more memory than it may: {_MEMORY}"),
    ("insufficient cpu", "--{kind}_cpu=250m, say, asks for less"),
    ("insufficient memory", "--{kind}_memory=256Mi, say, asks for less"),
    ("persistentvolumeclaim", "--storage_class names a kind of volume that the cluster makes"),
    ("invalidimagename", "write it --image=REGISTRY/NAME:TAG"),
    ("errimageneverpull", "bring it to each machine, or give --image_pull_policy=IfNotPresent"),
    (
        "imagepull",
        "is --image what its registry has? One that asks for a login needs --image_pull_secret=NAME, a "
        "Secret of the job's namespace (kubectl create secret docker-registry NAME ... makes one)",
    ),
    ("executable file not found", "--node_python=PATH names the Python of the image"),
    ("no such file or directory", "--node_python=PATH names the Python of the image"),
)


def of(said: str, role: str) -> str:
    """What to do about what is said of the pod of ``role``; empty where nobody knows."""
    small = said.lower()
    found = next((advice for sign, advice in _ADVICE if sign in small), "")
    return found.replace("{kind}", _kind(role))


def with_it(said: str, role: str) -> str:
    """The same, behind what is said."""
    return "; ".join(filter(None, [said.rstrip("."), of(said, role)]))


def of_kill(role: str, limit: str) -> str:
    """What to do about a process that was killed, in a pod that may have ``limit`` of memory."""
    flag = f"--{_kind(role)}_memory"
    if not limit:
        return ""
    return f"a process that has more memory than {flag}={limit} is killed so: give more"


def _kind(role: str) -> str:
    return role.partition("-")[0]
