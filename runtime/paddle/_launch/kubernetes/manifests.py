"""All objects of a job, as Kubernetes takes them.

Pure: the same plan, secrets and package give the same objects. It must never know a cluster.

Guarantee, by five rules:

1. What belongs to a job is labelled so, and by these labels all of it is found, and nothing else.
2. Pods find each other by names (names.py), also before they are ready: they wait for each other themselves.
3. A parameter server that is lost comes back under its name; a trainer does not, since its pass is lost.
4. Secrets are in Secrets, and the key of the certificate comes to parameter servers alone.
5. Objects that a cluster is too old for are left out (budgets), or written as it knows them (trainers).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence

import yaml

from paddle._launch.kubernetes import names, package, pods
from paddle._launch.kubernetes.containers import Fields, template
from paddle._launch.plan import LaunchPlan, describe

_KEPT_S = 7 * 24 * 3600  # a job that has ended and that nobody took away
_OF_SERVERS = ("tls_cert", "tls_key")


def objects(
    launch: LaunchPlan, secrets: Mapping[str, str], parts: Sequence[bytes], version: str
) -> Iterator[Fields]:
    """Give them in the order in which they are made. ``secrets``: what processes show and trust, by name;
    ``parts``: of the package; ``version``: of the cluster, empty for a current one."""
    assert launch.pods is not None
    yield _service(launch)
    yield from _secrets(launch.name, secrets)
    yield from (_part(launch.name, number, data) for number, data in enumerate(parts))
    if pods.has_budgets(version):
        yield _budget(launch)
    yield _servers(launch)
    yield from _trainers(launch, len(parts), version)


def text(made: Sequence[Fields], launch: LaunchPlan) -> str:
    """Write objects for people and kubectl: YAML, behind comments that say the plan."""
    head = "".join(f"# {line}\n" for line in describe(launch))
    return head + written(made)


def written(made: Sequence[Fields]) -> str:
    """Write objects: YAML."""
    return str(yaml.dump_all(made, Dumper=_Dumper, sort_keys=False, explicit_start=True, width=1 << 16))


class _Dumper(yaml.SafeDumper):
    """Writes what is the same twice, and texts of several lines as they are."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _object(version: str, kind: str, name: str, labels: Mapping[str, str], **fields: object) -> Fields:
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "labels": dict(labels)},
        **fields,
    }


def _service(launch: LaunchPlan) -> Fields:
    """Names for all pods of the job; a headless one, so a name leads to its pod."""
    first, dense, sparse = launch.ports
    ports = [{"name": f"shard-{number}", "port": first + number} for number in range(dense + sparse)]
    labels = names.labels(launch.name)
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {names.INSTANCE: launch.name},
        "ports": ports,
    }
    return _object("v1", "Service", launch.name, labels, spec=spec)


def _secrets(job: str, secrets: Mapping[str, str]) -> Iterator[Fields]:
    of_all = {name: text for name, text in secrets.items() if name not in _OF_SERVERS}
    of_servers = {name: text for name, text in secrets.items() if name in _OF_SERVERS}
    for name, content in ((names.trust(job), of_all), (names.certificate(job), of_servers)):
        if content or name == names.trust(job):
            fields = {"type": "Opaque", "immutable": True, "stringData": content}
            yield _object("v1", "Secret", name, names.labels(job), **fields)


def _part(job: str, number: int, data: bytes) -> Fields:
    content = {package.name_of(number): base64.b64encode(data).decode()}
    name = names.part(job, number)
    return _object("v1", "ConfigMap", name, names.labels(job), immutable=True, binaryData=content)


def _budget(launch: LaunchPlan) -> Fields:
    """Nobody drains a machine under a job that trains: pods that go one after another would end it."""
    spec = {"minAvailable": len(launch.nodes), "selector": {"matchLabels": {names.INSTANCE: launch.name}}}
    labels = names.labels(launch.name)
    return _object("policy/v1", "PodDisruptionBudget", launch.name, labels, spec=spec)


def _servers(launch: LaunchPlan) -> Fields:
    job, kind = launch.name, "pserver"
    labels = names.labels(job, kind)
    spec: Fields = {
        "serviceName": job,
        "replicas": len(launch.roles(kind)),
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": _chosen(job, kind)},
        "template": template(launch, kind),
    }
    if launch.snapshots is not None:
        spec["volumeClaimTemplates"] = [_claim(launch)]
    return _object("apps/v1", "StatefulSet", names.group(job, kind), labels, spec=spec)


def _claim(launch: LaunchPlan) -> Fields:
    assert launch.pods is not None
    asked: Fields = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": launch.pods.storage}},
    }
    if launch.pods.storage_class:
        asked["storageClassName"] = launch.pods.storage_class
    return {"metadata": {"name": "snapshots", "labels": names.labels(launch.name, "pserver")}, "spec": asked}


def _trainers(launch: LaunchPlan, parts: int, version: str) -> Iterator[Fields]:
    """One Job that numbers its pods; a Job each where a cluster is too old for that, or where the others are
    to go on when one fails."""
    job, kind, count = launch.name, "trainer", len(launch.roles("trainer"))
    labels = names.labels(job, kind)
    own: Fields = {"backoffLimit": 0, "ttlSecondsAfterFinished": _KEPT_S}
    if pods.has_indexed_jobs(version) and not launch.min_trainers:
        shape = {"completionMode": "Indexed", "completions": count, "parallelism": count}
        spec = {**shape, **own, "template": template(launch, kind, parts)}
        yield _object("batch/v1", "Job", names.group(job, kind), labels, spec=spec)
        return
    for rank in range(count):
        spec = {**own, "template": template(launch, kind, parts, rank)}
        yield _object("batch/v1", "Job", names.pod(job, kind, rank), labels, spec=spec)


def _chosen(job: str, kind: str) -> dict[str, str]:
    return {names.INSTANCE: job, names.COMPONENT: kind}
