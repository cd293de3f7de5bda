"""Manifests: every one fits the schemas of current clusters, and together they agree with one another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._launch.errors import UsageError
from paddle._launch.kubernetes import manifests, package, whole

from .jobs import planned, workspace

CURRENT = ("1.35", "1.36", "1.37")
JOB = "job20261122120000"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return workspace(tmp_path_factory.mktemp("job") / "package")


def of_kind(objects: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [made for made in objects if made["kind"] == kind]


def templates(objects: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for made in objects:
        if made["kind"] in ("Job", "StatefulSet"):
            yield made["spec"]["template"]


def command(template: dict[str, Any]) -> list[str]:
    words = template["spec"]["containers"][0]["command"]
    assert all(isinstance(word, str) for word in words)
    return list(words)


SHAPES = {
    "plain": (),
    "snapshots": ("--snapshot_dir=/snapshots", "--storage=2Gi", "--storage_class=fast"),
    "image": ("--job_workspace=/opt/job",),
    "rich": (
        "--tls=off",
        "--image_pull_secret=key",
        "--trainer_memory=4Gi",
        "--min_trainers=1",
        "--ports_num=3",
    ),
}


@pytest.mark.parametrize("version", [*CURRENT, "1.30"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_manifest_fits_the_schemas_of_current_clusters(folder: Path, shape: str, version: str) -> None:
    launch = planned(folder, "--pserver_num=2", "--trainer_num=3", *SHAPES[shape])
    for of_cluster in ("", "1.20"):
        for made in whole.objects(launch, of_cluster):
            kubernetes_validate.validate(made, version, strict=True)


def test_a_manifest_with_a_slip_does_not_fit(folder: Path) -> None:
    made = of_kind(whole.objects(planned(folder)), "StatefulSet")[0]
    made["spec"]["replica"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(made, CURRENT[-1], strict=True)


def test_manifests_of_the_example_fit_them_too() -> None:
    files = sorted((ROOT / "cluster").rglob("*.yaml"))
    for path, version in itertools.product(files, CURRENT):
        for made in yaml.safe_load_all(path.read_text()):
            kubernetes_validate.validate(made, version, strict=True)


@settings(max_examples=20)
@given(
    pservers=st.integers(1, 50),
    trainers=st.integers(1, 50),
    ports=st.integers(1, 20),
    old=st.booleans(),
)
def test_objects_agree_with_one_another(
    folder: Path, pservers: int, trainers: int, ports: int, old: bool
) -> None:
    launch = planned(folder, f"--pserver_num={pservers}", f"--trainer_num={trainers}", f"--ports_num={ports}")
    objects = list(manifests.objects(launch, {"token": "t"}, [b"1", b"2"], "1.20" if old else "1.37"))
    names = [(made["kind"], made["metadata"]["name"]) for made in objects]
    assert len(set(names)) == len(names)
    assert all(len(name) <= 63 - len("-1000") for _, name in names)
    (service,) = of_kind(objects, "Service")
    (servers,) = of_kind(objects, "StatefulSet")
    assert servers["spec"]["serviceName"] == service["metadata"]["name"] == JOB
    assert servers["spec"]["replicas"] == pservers
    assert [port["port"] for port in service["spec"]["ports"]] == list(range(7164, 7164 + ports))
    jobs = of_kind(objects, "Job")
    assert len(jobs) == (trainers if old else 1)
    for template in templates(objects):
        labels = template["metadata"]["labels"]
        assert service["spec"]["selector"].items() <= labels.items()
        assert f"--pserver_num={pservers}" in command(template)
        assert f"--trainer_num={trainers}" in command(template)
    assert (
        servers["spec"]["selector"]["matchLabels"].items()
        <= next(templates(objects))["metadata"]["labels"].items()
    )


def test_all_that_is_made_has_the_labels_by_which_it_is_taken_away(folder: Path) -> None:
    launch = planned(folder, "--snapshot_dir=/snapshots")
    objects = whole.objects(launch)
    (servers,) = of_kind(objects, "StatefulSet")
    for made in [*objects, *servers["spec"]["volumeClaimTemplates"], *templates(objects)]:
        shown = made["metadata"]["labels"]
        assert shown["app.kubernetes.io/name"] == "paddle"
        assert shown["app.kubernetes.io/instance"] == JOB


def test_pods_may_do_nothing_but_their_work(folder: Path) -> None:
    for template in templates(whole.objects(planned(folder))):
        spec = template["spec"]
        (container,) = spec["containers"]
        assert spec["automountServiceAccountToken"] is False
        assert "hostNetwork" not in spec
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert isinstance(spec["securityContext"]["runAsUser"], int)
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert set(container["resources"]["requests"]) == {"cpu", "memory"}


def test_the_key_comes_to_parameter_servers_alone(folder: Path) -> None:
    objects = whole.objects(planned(folder))
    servers, trainers = templates(objects)
    key = {"secret": {"name": f"{JOB}-certificate"}}
    of = [
        [
            source
            for volume in each["spec"]["volumes"]
            for source in volume.get("projected", {}).get("sources", ())
        ]
        for each in (servers, trainers)
    ]
    assert key in of[0]
    assert key not in of[1]
    assert {made["metadata"]["name"]: set(made["stringData"]) for made in of_kind(objects, "Secret")} == {
        f"{JOB}-trust": {"token", "tls_ca"},
        f"{JOB}-certificate": {"tls_cert", "tls_key"},
    }


def test_no_secret_is_outside_of_secrets(folder: Path) -> None:
    objects = whole.objects(planned(folder))
    secrets = [text for made in of_kind(objects, "Secret") for text in made["stringData"].values()]
    rest = str([made for made in objects if made["kind"] != "Secret"])
    assert len(secrets) == 4
    assert not [text for text in secrets if text in rest]


def test_a_current_cluster_numbers_trainers_and_an_old_one_has_a_job_for_each(folder: Path) -> None:
    launch = planned(folder, "--trainer_num=3")
    (job,) = of_kind(whole.objects(launch, "1.22"), "Job")
    assert (job["spec"]["completionMode"], job["spec"]["completions"]) == ("Indexed", 3)
    old = of_kind(whole.objects(launch, "v1.20.2"), "Job")
    assert [made["spec"]["template"]["spec"]["hostname"] for made in old] == [
        f"{JOB}-trainer-{rank}" for rank in range(3)
    ]
    assert not of_kind(whole.objects(launch, "1.20"), "PodDisruptionBudget")
    assert of_kind(whole.objects(launch, "1.21"), "PodDisruptionBudget")


def test_a_trainer_that_fails_takes_no_other_with_it_where_the_job_is_to_go_on(folder: Path) -> None:
    launch = planned(folder, "--trainer_num=3", "--min_trainers=2")
    assert len(of_kind(whole.objects(launch), "Job")) == 3


def test_arguments_of_the_program_are_behind_it_and_no_shell_reads_them(folder: Path) -> None:
    launch = planned(folder, "--", "--name=$(rm -rf /)", "two words")
    _, trainers = templates(whole.objects(launch))
    assert command(trainers)[-3:] == ["train.py", "--name=$(rm -rf /)", "two words"]


def test_a_package_comes_in_parts_that_objects_can_hold(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "PART", 100)
    objects = whole.objects(planned(folder))
    parts = of_kind(objects, "ConfigMap")
    assert len(parts) > 1
    _, trainers = templates(objects)
    (volume,) = [each for each in trainers["spec"]["volumes"] if each["name"] == "package"]
    named = [source["configMap"]["name"] for source in volume["projected"]["sources"]]
    assert named == [part["metadata"]["name"] for part in parts]


def test_what_is_printed_is_read_back_as_it_was_made(folder: Path) -> None:
    launch = planned(folder, "--pserver_num=2")
    objects = whole.objects(launch)
    text = manifests.text(objects, launch)
    assert list(yaml.safe_load_all(text)) == objects
    assert "&id" not in text


@pytest.mark.parametrize(
    "flag", ["--trainer_cpu=0.5", "--trainer_cpu=250m", "--pserver_cpu=2", "--pserver_memory=64Mi"]
)
@pytest.mark.parametrize("other", ["--trainer_memory=1.5Gi", "--storage=1Mi", "--trainer_memory=500M"])
def test_quantities_that_a_cluster_takes_as_they_are_meant_are_taken(
    folder: Path, flag: str, other: str
) -> None:
    text = str(whole.objects(planned(folder, flag, other, "--snapshot_dir=/snapshots")))
    for one in (flag, other):
        assert f"'{one.partition('=')[2]}'" in text


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--image=",), "--image=REGISTRY/NAME:TAG"),
        (("--image=two words",), "not a name of an image"),
        (("--namespace=Mine",), "not a Kubernetes name"),
        (("--trainer_cpu=many",), "--trainer_cpu: 'many' is not a quantity of processors"),
        (("--pserver_cpu=1Gi",), "--pserver_cpu: '1Gi' is not a quantity of processors"),
        (("--trainer_memory=512m",), "thousandths of a byte): was 512Mi meant?"),
        (("--pserver_memory=2g",), "was 2Gi meant?"),
        (("--pserver_memory=4GB",), "was 4Gi meant?"),
        (("--trainer_memory=much",), "512Mi or 4Gi"),
        (("--trainer_memory=512",), "does not even start with less than 64Mi. Was 512Mi meant?"),
        (("--trainer_memory=24Mi",), "less than 64Mi."),
        (("--storage=10m",), "was 10Mi meant?"),
        (("--storage=10",), "at least 1Mi. Was 10Mi meant?"),
        (("--snapshot_dir=../snap",), "not in /paddle"),
        (("--snapshot_dir=/paddle/snap",), "not in /paddle"),
        (("--kubernetes_version=new",), "not a version of Kubernetes"),
        (("--kubernetes_version=1.10",), "for 1.20 and later"),
        (("--kubernetes_version=v1.19.16",), "for 1.20 and later"),
        (("--collect_timeout=-1",), "from 1 to 2592000"),
        (("--collect_timeout=0",), "from 1 to 2592000"),
        (("--hosts=local",), "as many as --pserver_num"),
        (("--nics=eth0",), "the one address"),
        (("--max_restart=1",), "not started again"),
        (("--pservers=2",), "--pserver_num"),
        (("--min_trainers=2",), "--trainer_num"),
        (("--platform=fabric",), "--platform=kubernetes"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(folder: Path, flags: tuple[str, ...], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        planned(folder, *flags)
    assert said in str(refused.value)
