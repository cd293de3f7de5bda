"""What a job asks of its pods: an image, shares of a machine, storage, and what they are told.

Data and its checks. It must never know a cluster. Guarantee: what an API server could only refuse by its
pattern is refused here, by the flag that the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from paddle._launch.errors import UsageError
from paddle._launch.flags import BY_NAME
from paddle._launch.kubernetes import quantities
from paddle._launch.settings import POD_FLAGS, Settings

# What pods are told of the launcher's flags. Of the others the manifests are made, or the launcher's walk.
_TOLD = (
    *("pserver_num", "trainer_num", "port", "ports_num", "ports_num_for_sparse", "barrier_timeout"),
    *("min_trainers", "connect_timeout", "comment", "log_period_server", "memory_limit", "gradient_memory"),
    *("snapshot_dir", "snapshot_period", "snapshot_interval", "snapshot_keep"),
    *("snapshot_memory", "snapshot_restarts"),
    *("ld_library_path", "use_gpu", "shard_data"),
)
_ALWAYS_TOLD = ("pserver_num", "trainer_num", "connect_timeout")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_VOLUMES = Path("/var/lib/paddle")  # of a relative folder, which elsewhere is in the workspace
_TAKEN = ("/paddle", "/tmp", "/etc", "/proc", "/sys", "/dev")
_LEAST_MEMORY = 64 << 20  # less than any role has before it begins with its work
_LEAST_STORAGE = 1 << 20
_OLDEST = (1, 20)  # the oldest that manifests are made for, and were tried on
_FIRST_INDEXED = (1, 22)  # the first whose jobs number their pods unasked
_FIRST_BUDGETS = (1, 21)  # the first with policy/v1


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Of a machine: quantities as Kubernetes writes them. ``limit``: of memory, empty for none."""

    cpu: str
    memory: str
    limit: str


class Pods(msgspec.Struct, frozen=True, kw_only=True):
    """What a job asks for. ``context`` and ``namespace``: those of kubectl where empty. ``told``: flags of
    `paddle pod`; ``python``: what runs it. ``folder``: of the image, where the workspace is in it."""

    context: str
    namespace: str
    image: str
    pull_policy: str
    pull_secret: str
    version: str
    pserver: Share
    trainer: Share
    storage: str
    storage_class: str
    collect_timeout_s: float
    python: str
    told: tuple[str, ...]
    folder: str = ""


def of(settings: Settings, folder: str) -> Pods:
    """Read it from settings. ``folder``: of the image, or empty where a package is sent."""
    _check(settings)
    return Pods(
        context=settings["context"],
        namespace=settings["namespace"],
        image=settings["image"],
        pull_policy=settings["image_pull_policy"],
        pull_secret=settings["image_pull_secret"],
        version=settings["kubernetes_version"],
        pserver=_share(settings, "pserver"),
        trainer=_share(settings, "trainer"),
        storage=settings["storage"],
        storage_class=settings["storage_class"],
        collect_timeout_s=settings["collect_timeout"],
        python=settings["node_python"] or "python3",
        told=tuple(_told(settings)),
        folder=folder,
    )


def has_indexed_jobs(version: str) -> bool:
    """Whether a cluster numbers the pods of a job; an empty version is a current one's."""
    return number(version) >= _FIRST_INDEXED


def has_budgets(version: str) -> bool:
    """Whether a cluster knows disruption budgets as they are written here."""
    return number(version) >= _FIRST_BUDGETS


def number(version: str) -> tuple[int, int]:
    """The first two numbers of a version such as v1.20.2; of an empty one those of a current cluster.
    One that is too old is refused."""
    found = re.match(r"v?(\d+)\.(\d+)", version or "1.30")
    if found is None:
        raise UsageError(
            f"--kubernetes_version={version} is not a version of Kubernetes. Write 1.20, or leave it out: "
            "the cluster is asked then."
        )
    numbers = int(found[1]), int(found[2])
    if numbers < _OLDEST:
        raise UsageError(
            f"Kubernetes {version} (--kubernetes_version, or the cluster's own) is too old: manifests are "
            "made for 1.20 and later. Before, some of what they say would be dropped without a word."
        )
    return numbers


def _check(settings: Settings) -> None:
    if not settings["image"]:
        raise UsageError(
            "--platform=kubernetes: pods need an image that has the runtime: --image=REGISTRY/NAME:TAG "
            "(KUBERNETES_IMAGE in conf.py). cluster/kubernetes/Dockerfile makes one."
        )
    if re.search(r"\s", settings["image"]):
        raise UsageError(f"{settings.written('image')}: {settings['image']!r} is not a name of an image.")
    for name in ("namespace", "storage_class", "image_pull_secret"):
        text = settings[name]
        if text and not _NAME.fullmatch(text):
            raise UsageError(
                f"{settings.written(name)}: {text!r} is not a Kubernetes name: small letters, digits, - and ."
            )
    _check_volume(settings)
    _check_quantities(settings)
    number(settings["kubernetes_version"])


def _check_quantities(settings: Settings) -> None:
    for name in ("pserver_cpu", "trainer_cpu"):
        _refuse(settings, name, quantities.wrong_processors(settings[name]))
    for name in ("pserver_memory", "trainer_memory"):
        needs = f"a {name.partition('_')[0]} does not even start with less than"
        _refuse(settings, name, quantities.wrong_bytes(settings[name], _LEAST_MEMORY, needs))
    needs = "a volume of snapshots has at least"
    _refuse(settings, "storage", quantities.wrong_bytes(settings["storage"], _LEAST_STORAGE, needs))


def _refuse(settings: Settings, name: str, why: str) -> None:
    if why:
        raise UsageError(f"{settings.written(name)}: {why}")


def _check_volume(settings: Settings) -> None:
    folder = volume(settings["snapshot_dir"])
    is_below = any(Path(folder).is_relative_to(taken) for taken in _TAKEN)
    if folder and (is_below or ".." in Path(folder).parts or folder == "/"):
        raise UsageError(
            f"{settings.written('snapshot_dir')}: {folder!r}: pods of parameter servers have a volume there, "
            f"so give a folder that is not in {', '.join(_TAKEN)}: /snapshots, say."
        )


def _share(settings: Settings, kind: str) -> Share:
    memory = f"{kind}_memory"
    given = settings.origins[memory] != "default"
    return Share(
        cpu=settings[f"{kind}_cpu"], memory=settings[memory], limit=settings[memory] if given else ""
    )


def _told(settings: Settings) -> Iterable[str]:
    for name in _TOLD:
        if name in _ALWAYS_TOLD or settings[name] != BY_NAME[name].default:
            value = volume(settings[name]) if name == "snapshot_dir" else settings[name]
            yield f"--{name}={BY_NAME[name].render(value)}"


def volume(folder: str) -> str:
    """Where pods have the volume of snapshots that elsewhere are in ``folder``."""
    return str(_VOLUMES / folder) if folder else ""


def check_none(settings: Settings) -> None:
    """Refuse what only pods have where nodes are no pods."""
    for name in POD_FLAGS:
        if settings.origins[name] == f"--{name}":
            raise UsageError(
                f"--{name} is of pods, and nodes are machines here. Give --platform=kubernetes, too, or "
                "leave it out."
            )
