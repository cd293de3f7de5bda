"""What runs in the pods of a job: one container each, which writes to three places and may do nothing else.

Pure: the same plan gives the same containers. It must never know a cluster.

Guarantee: pods are fit for a namespace that enforces the standard `restricted`, and no part of what they are
told is read by a shell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.pods import Pods
from paddle._launch.plan import LaunchPlan

Fields = dict[str, Any]

USER = 7164  # of the image that cluster/kubernetes makes; any other may be in the image
PACKAGE, SECRETS = "/etc/paddle/package", "/etc/paddle/secrets"
_HOME = "/paddle"
_SHORTEST_READY, _LONGEST_START = 2, 600  # seconds
_GRACE_S = 10


def template(launch: LaunchPlan, kind: str, parts: int = 0, rank: int | None = None) -> Fields:
    """A pod of ``kind``. ``parts``: of the workspace; ``rank``: where the pod is made for that one."""
    asked, job = _asked(launch), launch.name
    secrets = [names.trust(job)]
    if kind == "pserver" and launch.encrypts:
        secrets.append(names.certificate(job))
    sources = [{"secret": {"name": name}} for name in secrets]
    volumes: list[Fields] = [
        {"name": "home", "emptyDir": {}},
        {"name": "tmp", "emptyDir": {}},
        {"name": "secrets", "projected": {"defaultMode": 0o440, "sources": sources}},
    ]
    if parts:
        packages = [{"configMap": {"name": names.part(job, part)}} for part in range(parts)]
        volumes.append({"name": "package", "projected": {"defaultMode": 0o444, "sources": packages}})
    spec: Fields = {
        "restartPolicy": "Always" if kind == "pserver" else "Never",
        "terminationGracePeriodSeconds": _GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(launch, kind, bool(parts))],
        "volumes": volumes,
    }
    if asked.pull_secret:
        spec["imagePullSecrets"] = [{"name": asked.pull_secret}]
    if kind == "trainer":
        spec["subdomain"] = job  # by which it is found: as pods of a StatefulSet are
    if rank is not None:
        spec["hostname"] = names.pod(job, kind, rank)
    return {"metadata": {"labels": names.labels(job, kind)}, "spec": spec}


def _container(launch: LaunchPlan, kind: str, has_package: bool) -> Fields:
    asked = _asked(launch)
    share = asked.pserver if kind == "pserver" else asked.trainer
    mounts = [
        {"name": "home", "mountPath": _HOME},
        {"name": "tmp", "mountPath": "/tmp"},
        {"name": "secrets", "mountPath": SECRETS, "readOnly": True},
    ]
    if has_package:
        mounts.append({"name": "package", "mountPath": PACKAGE, "readOnly": True})
    if kind == "pserver" and launch.snapshots is not None:
        mounts.append({"name": "snapshots", "mountPath": str(launch.snapshots)})
    made: Fields = {
        "name": kind,
        "image": asked.image,
        "imagePullPolicy": asked.pull_policy,
        "command": list(_command(launch, kind, has_package)),
        "env": _environment(),
        "resources": {
            "requests": {"cpu": share.cpu, "memory": share.memory},
            **({"limits": {"memory": share.limit}} if share.limit else {}),
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": mounts,
    }
    return {**made, **(_served(launch) if kind == "pserver" else {})}


def _command(launch: LaunchPlan, kind: str, has_package: bool) -> Iterable[str]:
    asked = _asked(launch)
    yield from (asked.python, "-P", "-m", "paddle", "pod", f"--role={kind}", f"--name={launch.name}")
    yield from (f"--secrets={SECRETS}", f"--job_workspace={launch.nodes[0].workspace}", "--reports")
    yield f"--keep={asked.collect_timeout_s:g}s"
    if kind == "trainer":
        if asked.folder:
            yield f"--template={asked.folder}"
        if has_package:
            yield f"--package={PACKAGE}"
    yield from asked.told
    if kind == "trainer":
        yield "--"
        program = launch.roles("trainer")[0].argv
        yield from program[program.index(launch.program) :]


def _environment() -> list[Fields]:
    """What is told by variables: the pod's own address, and where may be written to."""
    address = {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    return [
        address,
        {"name": "HOME", "value": "/tmp"},
        {"name": "NUMBA_CACHE_DIR", "value": "/tmp/kernels"},
        {"name": "PYTHONUNBUFFERED", "value": "1"},
    ]


def _served(launch: LaunchPlan) -> Mapping[str, Any]:
    """The ports of a parameter server, and how it is seen that it serves. Its process answers until trainers
    have left; the pod stays, so that it is not begun anew: there is no probe of liveness."""
    first, dense, sparse = launch.ports
    scheme = {"scheme": "HTTPS"} if launch.encrypts else {}
    probe = {"httpGet": {"path": "/healthz", "port": first, **scheme}, "timeoutSeconds": 2}
    return {
        "ports": [
            {"name": f"shard-{number}", "containerPort": first + number} for number in range(dense + sparse)
        ],
        "startupProbe": {**probe, "periodSeconds": 1, "failureThreshold": _LONGEST_START},
        "readinessProbe": {**probe, "periodSeconds": _SHORTEST_READY},
    }


def _asked(launch: LaunchPlan) -> Pods:
    assert launch.pods is not None
    return launch.pods
