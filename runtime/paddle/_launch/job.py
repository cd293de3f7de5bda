"""A job: what the user asked for, settled and checked, before anybody thinks of processes.

It must never know how a node is reached. The clock and the current folder are arguments.

Guarantee: a JobSpec can be planned. What cannot be was refused with a usage error, and nothing was changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from paddle._launch.arguments import Arguments, parse_arguments
from paddle._launch.errors import NotInThisRelease, UsageError
from paddle._launch.flag import Value
from paddle._launch.flags import BY_NAME, flags_of, nearest
from paddle._launch.kubernetes import names, pods
from paddle._launch.settings import Settings, as_pods
from paddle._launch.workspace import Entry, listing, locate

COMMAND = "paddle.py"
# A process's place in a job is not for choice, and a job that is launched makes its own token.
SNAPSHOT_FLAGS = (
    *("snapshot_period", "snapshot_interval", "snapshot_keep", "snapshot_memory", "snapshot_restarts"),
)
OURS = ("trainer_id", "num_gradient_servers", "pservers", "token_file", "tls_ca")


_PODS_HOME = Path("/paddle")  # which pods may write to
_NUMBERS = "are as many as --pserver_num and --trainer_num say"
_OF_PODS = {
    "nics": "listen at the one address that they have",
    "root_dir": f"have their workspace in {_PODS_HOME}",
    "resume": "keep their snapshots for as long as their job is there",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """One job.

    ``name``: that of its folders. ``places``: each node's workspace. ``package``: what is sent there; None
    where it is deployed already. ``home``: where logs and the model are collected. ``arguments``: of the
    training program, all but the launcher's own. ``flags``: those that trainers find as ``PADDLE_INIT_*``.
    ``encrypts``: pservers have certificates that trainers trust.
    ``snapshots``: where pservers keep them; a relative folder lies in each node's workspace. ``pods``: what
    is asked of nodes that are pods.
    """

    name: str
    settings: Settings
    places: tuple[Path, ...]
    package: tuple[Entry, ...] | None
    home: Path
    arguments: tuple[str, ...]
    flags: Mapping[str, Value]
    snapshots: Path | None
    encrypts: bool
    notices: tuple[str, ...]
    pods: pods.Pods | None = None


def describe(
    settings: Settings,
    given: Arguments,
    now: datetime,
    cwd: Path,
    is_free: Callable[[Path], bool] | None = None,
    home: Path | None = None,
    letters: str = "",
) -> JobSpec:
    """Describe the job that ``given`` asks for. ``is_free`` is asked, last of all, for a JOB folder.
    ``home``: where results come, if that is not the workspace given. ``letters``: drawn by chance, to tell
    pods from those of who launches elsewhere in the same second."""
    _check_platform(settings)
    _check_enough(settings)
    package, deployed = (_folder(settings, name, cwd) for name in ("job_dispatch_package", "job_workspace"))
    if (package is None) == (deployed is None):
        meant = "".join(f" ({token} is not a flag. Did you mean --{near}?)" for token, near in _near(given))
        raise UsageError(
            "give either --job_dispatch_package=DIR, a local workspace to send to every node, or "
            f"--job_workspace=DIR, a workspace that every node already has. --help lists all flags.{meant}"
        )
    check_nics(settings)
    trainers = parse_arguments(given.others, "trainer", command=COMMAND, pass_on=True)
    _check_ranks(trainers)
    root = root_of(settings)
    is_local = settings.hosts[0].is_local  # else a deployed workspace is a folder of other machines
    program = settings["job_program"]
    own = locate(deployed, len(settings.hosts), program) if deployed and is_local else None
    content = listing(package, root, program) if package else None
    if is_free or not settings["job_prepare"]:  # else the folder may be yet to be made
        _check_shards(settings, content)
    home = _writable(home or package or (deployed if is_local else None) or cwd)
    form = "JOB%Y%m%d%H%M%S"
    if settings.hosts[0].is_pod:  # whose names are small, and many users' in one namespace
        form = "-".join(filter(None, ["job%Y%m%d%H%M%S", letters]))
    name = _free_name(root, now, is_free if is_free and package else _looks_free, form)
    asked = pods.of(settings, str(deployed or "")) if settings.hosts[0].is_pod else None
    return JobSpec(
        name=name,
        settings=in_pods(settings, name) if asked else settings,
        places=own or _places(settings, root / "workspace" if asked else deployed or root / name),
        package=content,
        home=home,
        arguments=given.others,
        flags={**trainers.values, **shared(settings)},
        snapshots=_snapshots(settings),
        encrypts=_encrypts(settings),
        notices=(*settings.notices, *trainers.notices, *_near_misses(given), *_idle(settings)),
        pods=asked,
    )


def in_pods(settings: Settings, job: str) -> Settings:
    """Settings of a job whose nodes are pods, by the names that these have in it."""
    numbers = ((kind, rank) for kind in ("pserver", "trainer") for rank in range(settings[f"{kind}_num"]))
    return as_pods(settings, [names.address(job, *number) for number in numbers])


def _folder(settings: Settings, name: str, cwd: Path) -> Path | None:
    return Path(os.path.realpath(cwd / _expanded(settings, name))) if settings[name] else None


def _expanded(settings: Settings, name: str) -> Path:
    """A path in which ``~`` stands for a home folder, which few shells replace behind ``--name=``."""
    try:
        return Path(settings[name]).expanduser()
    except RuntimeError as error:
        raise UsageError(
            f"{settings.written(name)}: {settings[name]!r} begins with the name of a user that this machine "
            "does not know. Write the path out."
        ) from error


def _check_platform(settings: Settings) -> None:
    """Refuse nodes that what is to lead to them cannot lead to."""
    written = settings.written("platform")
    if settings["platform"] == "kubernetes":
        _check_pods(settings)
        return
    pods.check_none(settings)
    if settings["platform"] == "mpi" and settings.hosts[0].is_local:
        raise UsageError(
            f"{written}: mpirun leads to machines, and HOSTS names local nodes. Name machines, user@host, or "
            "leave the platform out."
        )
    with_port = [host.name for host in settings.hosts if host.ssh_port]
    if settings["platform"] == "mpi" and with_port:
        raise UsageError(
            f"{written}: mpirun takes no port of sshd, and HOSTS gives {with_port[0]} one. Write it to "
            "~/.ssh/config, which mpirun's ssh reads."
        )


def _check_pods(settings: Settings) -> None:
    if settings["max_restart"]:
        raise NotInThisRelease(
            f"{settings.written('max_restart')}: on Kubernetes trainers are not started again in this "
            "release. Give 0; with --snapshot_dir a parameter server comes back all the same, and "
            "with --min_trainers a job goes on without a trainer."
        )
    for name in ("hosts", "pserver_hosts", "trainer_hosts", "nics", "mpirun_flags", "root_dir", "resume"):
        if settings.origins[name] == f"--{name}":
            raise UsageError(
                f"--{name}: nodes are pods on Kubernetes, which {_OF_PODS.get(name, _NUMBERS)}. Leave it out."
            )


def _check_enough(settings: Settings) -> None:
    least, trainers = settings["min_trainers"], len(settings.places.trainers)
    if least > trainers:
        which = "TRAINER_HOSTS" if settings.origins["trainer_hosts"] != "default" else "HOSTS"
        which = "--trainer_num" if settings.hosts[0].is_pod else which
        raise UsageError(
            f"{settings.written('min_trainers')}: {least} is more than the {trainers} of {which}, where each "
            "node has one trainer. Give fewer, or 0 to go on with all only."
        )


def check_nics(settings: Settings) -> None:
    """Refuse network devices at which pservers would not be heard."""
    devices = ",".join(settings["nics"])
    if settings.hosts[0].is_pod:
        return
    if settings.hosts[0].is_local and devices not in ("", "lo"):
        raise UsageError(
            f"{settings.written('nics')}: {devices!r} is not a device of local nodes: they have the loopback "
            "device alone, each with its own address. Leave it out or say 'lo', or name the nodes in HOSTS "
            "as user@host."
        )
    if not settings.hosts[0].is_local and devices in ("", "lo"):
        said = (
            f"{settings.written('nics')}: with {devices}" if devices else "PADDLE_NIC is not set: without it"
        )
        raise UsageError(
            f"{said}, pservers would be heard by their own node alone. Give the network device by which "
            "nodes reach each other, which `ip -br address` shows there: PADDLE_NIC = 'eth0' in conf.py, say."
        )


def _encrypts(settings: Settings) -> bool:
    """What does not leave this machine needs no cipher, but may have one."""
    if settings["tls"] not in ("", "auto", "off"):
        raise UsageError(
            f"{settings.written('tls')}: {settings['tls']!r} is neither auto nor off. A launched job has an "
            "authority of its own; certificates from elsewhere are for pservers that are started by hand: "
            "--tls_cert, --tls_key, PADDLE_TLS_CA."
        )
    return bool(settings["tls"] == "auto" or not (settings["tls"] or settings.hosts[0].is_local))


def _check_ranks(trainers: Arguments) -> None:
    for name in OURS:
        if name in trainers.values:
            raise UsageError(
                f"--{name} cannot be given to {COMMAND}: every process gets its own, by the order of HOSTS, "
                "and a token of the job. Leave it out. (How many pods there are on Kubernetes is said by "
                "--pserver_num and --trainer_num.)"
            )


def _check_shards(settings: Settings, content: tuple[Entry, ...] | None) -> None:
    folder = settings["shard_data"]
    if not folder:
        return
    written = settings.written("shard_data")
    if content is None:
        raise UsageError(f"{written}: a workspace that is there already is not sent. Leave it out.")
    folders = {entry.path for entry in content if entry.kind == "folder"}
    if folder.strip("/") not in folders:
        raise UsageError(
            f"{written}: the package has no folder {folder!r} that is sent. Give its path within the "
            "package, such as train_data_dir."
        )


def root_of(settings: Settings) -> Path:
    """ROOT_DIR, as nodes have it."""
    if settings.hosts[0].is_pod:
        return _PODS_HOME
    if settings.hosts[0].is_local:
        return _possible(settings.folder.resolve() / _expanded(settings, "root_dir"), settings)
    root = Path(settings["root_dir"])
    if not root.is_absolute():
        raise UsageError(
            f"ROOT_DIR ({settings.origins['root_dir']}) is {root}: on other machines it must begin with /."
        )
    return root


def _possible(root: Path, settings: Settings) -> Path:
    try:
        root.exists()
    except OSError as error:  # not that it is missing, but that nothing can be there, or be looked at
        raise UsageError(
            f"{settings.written('root_dir')}: {root}: {error.strerror}. Give another folder."
        ) from error
    return root


def _snapshots(settings: Settings) -> Path | None:
    written = settings["snapshot_dir"]
    if written.startswith("~") and not settings.hosts[0].is_local:
        raise UsageError(
            f"{settings.written('snapshot_dir')}: {written!r} is in a home folder, and other machines have "
            "their own. Write the path out."
        )
    if settings.hosts[0].is_pod and written:
        return Path(pods.volume(written))
    return _expanded(settings, "snapshot_dir") if written else None


def _near_misses(given: Arguments) -> Iterator[str]:
    """Tell of what is handed on, and was perhaps meant for the launcher."""
    for token, near in _near(given):
        is_handed_on = f"is not a flag of {COMMAND}; it is passed to the training program"
        yield f"warning: {token} {is_handed_on}. Did you mean --{near}?"


def _near(given: Arguments) -> Iterator[tuple[str, str]]:
    """What is no flag of ours, and the one that it is like."""
    for token in given.strangers:
        name = token.partition("=")[0].removeprefix("--").replace("-", "_")
        near = nearest(name, (flag.name for flag in flags_of("launcher")))
        if token.startswith("--") and name not in BY_NAME and near:
            yield token, near


def _idle(settings: Settings) -> Iterator[str]:
    """Tell of flags that say something of snapshots in a job that makes none."""
    names = [name for name in SNAPSHOT_FLAGS if settings.origins[name] == f"--{name}"]
    if names and not settings["snapshot_dir"]:
        yield f"warning: --{names[0]} changes nothing: without --snapshot_dir=DIR there are no snapshots."
    if settings["max_restart"] and not settings["snapshot_dir"]:
        yield (
            f"warning: {settings.written('max_restart')}: a parameter server that is killed ends the job all "
            "the same: without --snapshot_dir=DIR there is nothing that another could go on from."
        )


def _free_name(root: Path, now: datetime, is_free: Callable[[Path], bool], form: str) -> str:
    """Name the job after the time, or the next second that is free if another job began in this one."""
    while not is_free(root / (name := now.strftime(form))):
        now += timedelta(seconds=1)
    return name


def _looks_free(folder: Path) -> bool:
    return not folder.exists()


def _places(settings: Settings, folder: Path) -> tuple[Path, ...]:
    """One folder's place on every machine; on this one, a place in it for every node."""
    hosts = enumerate(settings.hosts)
    return tuple(folder / f"node-{node}" if host.is_local else folder for node, host in hosts)


def _writable(home: Path) -> Path:
    if not os.access(home, os.W_OK | os.X_OK):
        raise UsageError(
            f"logs and the model are collected in {home}, which cannot be written to. Copy it to where you "
            "may write, and give the copy."
        )
    for folder in (home / "log", home / "output"):  # of a job before, which another user launched perhaps
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise UsageError(
                f"results of this job are to come to {folder}, which cannot be written to. Have it made "
                "writable, or move it away."
            )
    return home


def shared(settings: Settings) -> dict[str, Value]:
    """Settings that a trainer takes, too, where somebody set them."""
    both = [flag.name for flag in flags_of("launcher") if "trainer" in flag.users]
    return {name: settings[name] for name in both if settings.origins[name] != "default"}
