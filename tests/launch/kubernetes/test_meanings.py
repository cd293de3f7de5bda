"""What is in manifests and what it is for, read as a cluster reads it: names, probes, places, shares."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from paddle._launch.authority import Authority
from paddle._launch.kubernetes import names, whole
from paddle._pserver.trust.auth import Token
from tests.pserver.conftest import Start, start_pservers
from tests.pserver.papers import ADDRESSES, Files

from .jobs import planned, workspace
from .test_manifests import JOB, of_kind, templates

__all__ = ["start_pservers"]  # fixtures

Objects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("job") / "package")


def made(folder: Path, *flags: str, version: str = "") -> Objects:
    return whole.objects(planned(folder, "--pserver_num=2", "--trainer_num=3", *flags), version)


def containers(objects: Objects) -> Iterator[dict[str, Any]]:
    for template in templates(objects):
        yield from template["spec"]["containers"]


# Names.


def hosts(objects: Objects) -> Iterator[tuple[str, str, dict[str, str]]]:
    """What pods there will be: the host's name of each, its subdomain, and its labels."""
    for one in objects:
        if one["kind"] not in ("StatefulSet", "Job"):
            continue
        name, spec = one["metadata"]["name"], one["spec"]
        template = spec["template"]
        pod, labels = template["spec"], template["metadata"]["labels"]
        if one["kind"] == "StatefulSet":  # which gives each pod its name and the subdomain of its service
            for rank in range(spec["replicas"]):
                yield f"{name}-{rank}", spec["serviceName"], labels
        elif spec.get("completionMode") == "Indexed":
            for rank in range(spec["completions"]):
                yield f"{name}-{rank}", pod.get("subdomain", ""), labels
        else:
            yield pod["hostname"], pod.get("subdomain", ""), labels


def resolved(objects: Objects, *, is_ready: bool) -> set[str]:
    """The names that lead to one pod, as DNS of a cluster has them."""
    found = set()
    for service in of_kind(objects, "Service"):
        spec, name = service["spec"], service["metadata"]["name"]
        if spec.get("clusterIP") != "None" or not (is_ready or spec.get("publishNotReadyAddresses")):
            continue
        for host, subdomain, labels in hosts(objects):
            if subdomain == name and spec["selector"].items() <= labels.items():
                found.add(f"{host}.{name}")
    return found


@pytest.mark.parametrize("version", ["1.20", ""])
@pytest.mark.parametrize("flags", [(), ("--min_trainers=1",)])
def test_every_role_is_found_by_its_name_also_before_it_is_ready(
    folder: Path, flags: tuple[str, ...], version: str
) -> None:
    """A parameter server is ready once it serves, and for that it waits for nobody; but trainers ask for its
    name as soon as they run."""
    counts = {"pserver": 2, "trainer": 3}
    called = {names.address(JOB, kind, rank) for kind, count in counts.items() for rank in range(count)}
    assert resolved(made(folder, *flags, version=version), is_ready=False) == called


def test_a_certificate_is_of_the_names_by_which_parameter_servers_are_found(folder: Path) -> None:
    from cryptography import x509

    objects = made(folder)
    (secret,) = [
        one for one in of_kind(objects, "Secret") if one["metadata"]["name"] == names.certificate(JOB)
    ]
    certificate = x509.load_pem_x509_certificate(secret["stringData"]["tls_cert"].encode())
    shown = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    found = set(shown.get_values_for_type(x509.DNSName))
    assert {name for name in resolved(objects, is_ready=True) if "-pserver-" in name} <= found


# Probes.


def asked(probe: dict[str, Any], port: int) -> int:
    """What a kubelet hears: it shows no token, and takes any certificate."""
    get = probe["httpGet"]
    at = "127.0.0.1", port
    if get.get("scheme", "HTTP") == "HTTPS":
        connection = http.client.HTTPSConnection(*at, context=ssl._create_unverified_context())
    else:
        connection = http.client.HTTPConnection(*at)
    connection.timeout = probe["timeoutSeconds"]
    connection.request("GET", get["path"])
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("encrypts", [True, False])
def test_what_a_probe_asks_is_answered_by_a_parameter_server(
    folder: Path, encrypts: bool, start_pservers: Start, tmp_path: Path
) -> None:
    objects = made(folder, "--ports_num=2", "--tls=auto" if encrypts else "--tls=off")
    server, *trainers = containers(objects)
    papers = Files(tmp_path / "papers", Authority("job", datetime.now(UTC)).issue(ADDRESSES))
    running = start_pservers(
        ports_num=2,
        token=Token(b"5ec7e7-5ec7e7-5ec7e7-5ec7e7"),
        certificate=papers.certificate if encrypts else None,
    )
    served = [port["containerPort"] for port in server["ports"]]
    for name in ("startupProbe", "readinessProbe"):
        probe = server[name]
        number = served.index(probe["httpGet"]["port"])  # of the shard that is asked
        assert asked(probe, running.port + number) == 200
    startup = server["startupProbe"]
    assert startup["periodSeconds"] * startup["failureThreshold"] >= 300, "kernels may have to be compiled"
    assert "livenessProbe" not in server, "which would begin one anew whose trainers have left it"
    assert not [each for each in trainers if "readinessProbe" in each], "trainers serve nobody"


# Places.


def is_writable(container: dict[str, Any], volumes: dict[str, dict[str, Any]], place: str) -> bool:
    """Whether the user of a pod may write there: the image's own files are read only."""
    over = [
        each for each in container["volumeMounts"] if PurePosixPath(place).is_relative_to(each["mountPath"])
    ]
    if not over:
        return not container["securityContext"]["readOnlyRootFilesystem"]
    mount = max(over, key=lambda each: len(each["mountPath"]))
    is_own = "emptyDir" in volumes[mount["name"]] or "claim" in volumes[mount["name"]]
    return is_own and not mount.get("readOnly", False)


def test_all_that_pods_write_to_is_theirs_and_what_they_are_given_is_not(folder: Path) -> None:
    objects = made(folder, "--snapshot_dir=/snapshots")
    (servers,) = of_kind(objects, "StatefulSet")
    claims = {
        claim["metadata"]["name"]: {"claim": claim} for claim in servers["spec"]["volumeClaimTemplates"]
    }
    for template in templates(objects):
        (container,) = template["spec"]["containers"]
        volumes = claims | {volume["name"]: volume for volume in template["spec"]["volumes"]}
        told = dict(
            word.split("=", 1) for word in container["command"] if word.startswith("--") and "=" in word
        )
        environ = {each["name"]: each.get("value", "") for each in container["env"]}
        own = ["/tmp", environ["HOME"], environ["NUMBA_CACHE_DIR"], told["--job_workspace"]]
        own += [told["--snapshot_dir"]] if container["name"] == "pserver" else []
        for place in own:
            assert is_writable(container, volumes, place), (container["name"], place)
        given = [told["--secrets"], *([told["--package"]] if container["name"] == "trainer" else [])]
        for place in given:
            assert place in [mount["mountPath"] for mount in container["volumeMounts"]]
            assert not is_writable(container, volumes, place)


def test_the_volume_of_snapshots_is_as_large_and_of_the_kind_that_was_asked_for(folder: Path) -> None:
    def claim(*flags: str) -> dict[str, Any]:
        (servers,) = of_kind(made(folder, "--snapshot_dir=/snapshots", *flags), "StatefulSet")
        (only,) = servers["spec"]["volumeClaimTemplates"]
        return dict(only["spec"])

    asked_for = claim("--storage=7Gi", "--storage_class=fast")
    assert asked_for["resources"]["requests"]["storage"] == "7Gi"
    assert asked_for["storageClassName"] == "fast"
    assert "storageClassName" not in claim(), "the cluster's usual kind"


# Who begins again, and who may be sent away.


def test_a_lost_trainer_stays_lost_and_a_parameter_server_comes_back(folder: Path) -> None:
    """A trainer that is begun anew in the same pod would take part a second time in a pass that broke."""
    for version in ("1.20", ""):
        for job in of_kind(made(folder, version=version), "Job"):
            assert job["spec"]["template"]["spec"]["restartPolicy"] == "Never"
            assert job["spec"]["backoffLimit"] == 0
    (servers,) = of_kind(made(folder), "StatefulSet")
    assert servers["spec"]["template"]["spec"]["restartPolicy"] == "Always"


def test_nobody_may_drain_a_machine_under_any_pod_of_the_job(folder: Path) -> None:
    objects = made(folder)
    (budget,) = of_kind(objects, "PodDisruptionBudget")
    chosen = budget["spec"]["selector"]["matchLabels"].items()
    covered = [host for host, _, labels in hosts(objects) if chosen <= labels.items()]
    assert len(covered) == 5
    allowed = len(covered) - budget["spec"]["minAvailable"]
    assert allowed == 0


# The image, and shares of a machine.


def test_the_image_is_fetched_as_and_with_what_was_asked_for(folder: Path) -> None:
    objects = made(folder, "--image_pull_policy=Never", "--image_pull_secret=login")
    assert {each["imagePullPolicy"] for each in containers(objects)} == {"Never"}
    for template in templates(objects):
        assert template["spec"]["imagePullSecrets"] == [{"name": "login"}]
    plain = made(folder)
    assert {each["image"] for each in containers(plain)} == {"paddle-fabric:1"}
    assert not [one for one in templates(plain) if "imagePullSecrets" in one["spec"]]


def test_memory_that_is_asked_for_is_also_the_most_and_no_other_has_a_most(folder: Path) -> None:
    servers, trainers = containers(made(folder, "--trainer_memory=3Gi", "--pserver_cpu=1500m"))
    assert trainers["resources"]["requests"]["memory"] == "3Gi"
    assert trainers["resources"]["limits"] == {"memory": "3Gi"}, (
        "processors are shared, and none is held back"
    )
    assert servers["resources"]["requests"]["cpu"] == "1500m"
    assert "limits" not in servers["resources"], "512Mi is a guess, and nobody is to be killed for a guess"
