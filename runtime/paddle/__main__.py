"""The command ``paddle``: ``pserver``, ``master``, ``version`` and ``help``.

It must never load more than the command needs: ``paddle version`` knows neither numpy nor a server.

Guarantee: wrong usage ends with 2 and one paragraph that says what to do; nothing is started or written.

Exit statuses: 0 well, 1 failed, 2 wrong usage, 98 a port is taken, 130 interrupted.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paddle
from paddle import _offline, _online, _planning
from paddle._insistence import insist
from paddle._launch import nics
from paddle._launch.arguments import parse_arguments
from paddle._launch.environ import SERVED, files, reporter
from paddle._launch.errors import LaunchError, NotInThisRelease, UsageError
from paddle._launch.flags import check_ports, defaults_of, flags_of
from paddle._launch.infolog import InfoLog, open_info_log, warn_on_standard_error
from paddle._launch.manual import page
from paddle._reported import Reported
from paddle._streams import CannotPrint, announce, complain, open_closed, show
from paddle._visible import visible
from paddle.version import release

if TYPE_CHECKING:
    from paddle._pserver.options import ServerOptions
    from paddle._pserver.trust.auth import Token
    from paddle._pserver.trust.tls import Certificate

_INTERRUPTED = 130
_STANDARD_ERROR = 2

_USAGE = """
Usage: paddle COMMAND [--name=value ...]

  paddle pserver    Start a parameter server; it exits when all trainers have finished.
  paddle master     Hand out a data set to trainers as tasks, until Ctrl+C.
  paddle export     Make a model from a job's snapshots, without its trainers.
  paddle snapshot   Make all parameter servers of a running job write a snapshot now.
  paddle reshard    Repartition a job's snapshots for another number of parameter servers.
  paddle dump_plan  Print how a training program computes a step, without training.
  paddle view_key   Print the key for viewing a server's status pages from other machines.
  paddle rank       Run one rank of a job that mpirun or srun has started.
  paddle pod        Run a parameter server or a trainer in a pod of Kubernetes.
  paddle version    Print the version and the available features.
  paddle help       Print this page; `paddle pserver --help` prints the server's flags.

A trainer is a Python program: `python train.py`. A whole job, on every node of conf.py, is started by
`python paddle.py --job_dispatch_package=FOLDER`; `python paddle.py --help` prints its flags.
"""
_PSERVER_USAGE = """
Usage: paddle pserver [--name=value ...]

Starts one parameter server process per address and port, and exits when all trainers have finished.
Exit status: 0 success, 1 failure, 2 wrong usage, 98 a port is taken.
"""
_MASTER_USAGE = """
Usage: paddle master [--name=value ...]

Hands out the RecordIO files that trainers name, some chunks at a time, to paddle.reader.creator.cloud_reader.
A task that is not finished in time goes to another trainer. With --state_file a master that was killed
continues where it was when it is started again. Exit status: 1 failure, 2 wrong usage, 98 the port is taken,
130 interrupted.
"""
_VIEW_KEY_USAGE = """
Usage: paddle view_key --token_file=FILE

Prints the key for viewing the job's parameter servers from other machines: the password of the status page in
a browser, or a Bearer token. It is derived from the job's token, and does not allow training.
"""
_LOG_LEVELS = {"debug": "DEBUG", "info": "INFO", "warn": "WARNING", "error": "ERROR", "crit": "CRITICAL"}
_LATER = {
    "train": "a trainer is a Python program here: `python train.py`",
    "new": "copy the folder workspace_template of the project instead",
    "merge_model": "models are saved whole, by `parameters.to_tar`",
    "dump_config": "there are no configuration files, only Python programs",
    "make_diagram": "there are no configuration files, only Python programs",
    "usage": "nothing is counted or sent anywhere",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives its exit status."""
    open_closed()
    insist(KeyboardInterrupt)
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["help"]
    try:
        return _command(command)(rest)
    except LaunchError as error:
        complain(visible(f"paddle {command}: {error}"))
        return error.exit_status
    except CannotPrint as error:
        complain(f"paddle {command}: {error.strerror}")
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (
        BrokenPipeError
    ):  # whoever read this, `head` perhaps, has enough; Python is not to complain at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _command(name: str) -> Callable[[Sequence[str]], int]:
    commands = {"pserver": _pserver, "master": _master, "view_key": _view_key, "version": _version}
    commands |= {"export": _offline.export, "reshard": _offline.reshard, "snapshot": _online.snapshot}
    commands |= {"dump_plan": _planning.dump_plan, "rank": _rank, "pod": _pod}
    commands |= {"help": _help}
    found = commands.get(name.removeprefix("--"), _help if name == "-h" else None)
    if found:
        return found
    if name in _LATER:
        raise NotInThisRelease(f"this command is not in this release; {_LATER[name]}.")
    near = get_close_matches(name, [*commands, *_LATER], n=1)
    advice = f"Did you mean `paddle {near[0]}`?" if near else "`paddle help` lists all commands."
    raise UsageError(f"there is no such command. {advice}")


def _help(arguments: Sequence[str]) -> int:
    helped = {"pserver": _pserver, "master": _master, "export": _offline.export, "reshard": _offline.reshard}
    helped |= {"snapshot": _online.snapshot, "dump_plan": _planning.dump_plan, "rank": _rank, "pod": _pod}
    for name, command in helped.items():
        if name in arguments:
            return command(["--help"])
    sections = [("Flags of a trainer, for paddle.init(name=...) or PADDLE_INIT_<NAME>:", flags_of("trainer"))]
    own = f"paddle-fabric {release}, with the interface of PaddlePaddle 0.10 to {paddle.__version__}"
    show(page(_USAGE, sections, own).rstrip())
    return 0


def _version(arguments: Sequence[str]) -> int:
    built = [f"    {name}: {'ON' if built_in else 'OFF'}" for name, built_in in _features().items()]
    show("\n".join([f"PaddlePaddle {paddle.__version__}, compiled with", *built]))
    return 0


def _features() -> Mapping[str, bool]:
    """What the original says of its build. Kernels are compiled here for the processor that is found."""
    return {
        "with_avx": _processor_has("avx"),
        "with_gpu": False,
        "with_double": False,
        "with_python": True,
        "with_rdma": False,
        "with_timer": False,
    }


def _processor_has(feature: str) -> bool:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return False
    return any(line.startswith("flags") and feature in line.split() for line in lines)


def _pserver(arguments: Sequence[str]) -> int:
    given = parse_arguments(arguments, "pserver", command="paddle pserver")
    if given.help:
        show(page(_PSERVER_USAGE, [("Flags:", flags_of("pserver"))]).rstrip())
        return 0
    values: dict[str, Any] = {**defaults_of("pserver"), **given.values}
    check_ports(values["port"], values["ports_num"], values["ports_num_for_sparse"])
    addresses = _addresses(values)
    for notice in given.notices:
        complain(f"paddle pserver: warning: {notice}")
    open_info_log("paddle_pserver2", os.environ)
    warn_on_standard_error()
    return _serve(values, addresses)


def _addresses(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Where to listen: the addresses given, or those of the devices given, or this machine alone."""
    return tuple(dict.fromkeys(values["host"] or nics.addresses_of(values["nics"]) or ("127.0.0.1",)))


def _exposed(addresses: Iterable[str]) -> list[str]:
    how = "every pserver with --token_file=job.token and every trainer with PADDLE_TOKEN_FILE=job.token"
    return nics.exposed(addresses, how)


def _options(values: Mapping[str, Any], addresses: tuple[str, ...]) -> ServerOptions:
    from paddle._pserver.memory import memory
    from paddle._pserver.options import ServerOptions, SnapshotOptions, of_mib, snapshot_bytes

    limit_bytes = (values["memory_limit"] << 20) or memory.limit_bytes()
    try:
        memory_bytes = snapshot_bytes(values["snapshot_memory"], limit_bytes)
    except ValueError as error:
        raise UsageError(str(error)) from None
    kept = SnapshotOptions(
        folder=values["snapshot_dir"],
        period=values["snapshot_period"],
        interval_s=values["snapshot_interval"],
        keep=values["snapshot_keep"],
        memory_bytes=memory_bytes,
    )
    if values["min_trainers"] > values["num_gradient_servers"]:
        raise UsageError(
            f"--min_trainers={values['min_trainers']} is more than the {values['num_gradient_servers']} of "
            "--num_gradient_servers: the job has no more trainers. Give fewer, or 0 to go on with all only."
        )
    return ServerOptions(
        addresses=addresses,
        port=values["port"],
        ports_num=values["ports_num"],
        ports_num_for_sparse=values["ports_num_for_sparse"],
        num_gradient_servers=values["num_gradient_servers"],
        min_trainers=values["min_trainers"],
        barrier_timeout_s=values["barrier_timeout"],
        log_period_server=values["log_period_server"],
        snapshots=kept if kept.folder else None,
        restarts=values["snapshot_restarts"],
        memory_limit_bytes=values["memory_limit"] << 20,
        gradient_bytes=of_mib(values["gradient_memory"]),
        serving=os.environ.get(SERVED, ""),
    )


def _serve(values: Mapping[str, Any], addresses: tuple[str, ...]) -> int:
    from paddle._pserver.errors import PserverError
    from paddle._pserver.service.service import serve

    options = _options(values, addresses)
    try:
        token, certificate = _token(values), _certificate(values)
        if options.snapshots is not None:
            _make_folders(options.snapshots.folder, options.snapshot_folders)
        tell = partial(_announce, has_token=token is not None)
        return serve(options, tell, Reported("paddle pserver"), token, certificate, reporter().news)
    except PserverError as error:
        complain(visible(f"paddle pserver: {error}"))
        return error.exit_status


def _make_folders(folder: str, own: Sequence[str]) -> None:
    """Make those of the snapshots, also every shard's own, while nothing is started that would have to be
    ended without them."""
    for path in (folder, *own):
        if why := _make_folder(path):
            place = "" if path == folder else f"{path}: "
            raise UsageError(
                f"--snapshot_dir={folder}: no snapshots can be kept there: {place}{why}. Nothing was "
                "started. Name a folder that can be made, or is there and can be written to; or leave the "
                "flag out."
            )


def _make_folder(path: str) -> str:
    """Why it cannot be used; "" where it can."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return "there is a file of that name" if isinstance(error, FileExistsError) else str(error.strerror)
    may_write = os.access(path, os.W_OK | os.X_OK)
    return "" if may_write else "this user, or a disk, lets nothing be written there"


def _token(values: Mapping[str, Any], command: str = "paddle pserver") -> Token | None:
    """The job's token; says so where others may read it."""
    from paddle._pserver.trust.token_file import read_token

    path = files(values, os.environ)["token_file"]
    if not path:
        return None
    token, warning = read_token(path)
    if warning is not None:
        complain(f"{command}: warning: {visible(warning)}")
    return token


def _certificate(values: Mapping[str, Any]) -> Certificate | None:
    """What is shown to those that connect; says so where others may read its key."""
    from paddle._pserver.trust.tls import read_certificate

    paths = files(values, os.environ)
    if not paths["tls_cert"] and not paths["tls_key"]:
        return None
    certificate, warning = read_certificate(paths["tls_cert"], paths["tls_key"])
    if warning is not None:
        complain(f"paddle pserver: warning: {visible(warning)}")
    return certificate


def _rank(arguments: Sequence[str]) -> int:
    try:
        from paddle._launch.ranks.cli import main
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{sys.executable} lacks the package {error.name}. Install this project for it on all machines, "
            "or name a Python that has it: mpirun -x PYTHON=/path/to/python3 ... start_mpi_train.sh"
        ) from error

    return main(arguments)


def _pod(arguments: Sequence[str]) -> int:
    from paddle._launch.kubernetes.inside.cli import main

    return main(arguments)


def _view_key(arguments: Sequence[str]) -> int:
    given = parse_arguments(arguments, "pserver", command="paddle view_key")
    if given.help:
        show(_VIEW_KEY_USAGE.strip())
        return 0
    from paddle._pserver.errors import PserverError

    try:
        token = _token({**defaults_of("pserver"), **given.values})
    except PserverError as error:
        raise UsageError(str(error)) from error
    if token is None:
        raise UsageError("give the file with the job's token: --token_file=FILE")
    show(token.view_key)
    return 0


def _master(arguments: Sequence[str]) -> int:
    given = parse_arguments(arguments, "master", command="paddle master")
    if given.help:
        show(page(_MASTER_USAGE, [("Flags:", flags_of("master"))]).rstrip())
        return 0
    values: dict[str, Any] = {**defaults_of("master"), **given.values}
    if values["endpoints"]:
        raise NotInThisRelease(
            f"--endpoints={values['endpoints']}: etcd is not in this release. --state_file=FILE keeps the "
            "state on this machine, and trainers are given the address of the master itself."
        )
    if values["log_level"] not in _LOG_LEVELS:
        raise UsageError(f"--log_level={values['log_level']} is none of {', '.join(_LOG_LEVELS)}.")
    for notice in given.notices:
        complain(f"paddle master: warning: {notice}")
    logger = logging.getLogger("paddle.master")
    logger.setLevel(_LOG_LEVELS[values["log_level"]])
    logger.addHandler(InfoLog(_STANDARD_ERROR, "standard error"))
    return _hand_out(values, _addresses(values))


def _hand_out(values: Mapping[str, Any], addresses: tuple[str, ...]) -> int:
    from paddle._pserver.errors import PserverError
    from paddle._pserver.tasks.service import MasterOptions, QueueOptions, serve

    options = MasterOptions(
        addresses=addresses,
        port=values["port"],
        state_file=values["state_file"],
        queue=QueueOptions(
            timeout_s=values["task_timeout_dur"],
            failure_max=values["task_timeout_max"],
            chunks_per_task=values["chunk_per_task"],
        ),
    )
    try:
        token = _token(values, "paddle master")
        return serve(options, partial(_announce_master, has_token=token is not None), token)
    except PserverError as error:
        complain(f"paddle master: {error}")
        return error.exit_status


def _announce_master(places: list[tuple[str, int]], *, has_token: bool) -> None:
    exposed = {host: None for host, _ in places if not nics.is_loopback(host)}
    for address in {} if has_token else exposed:
        complain(
            f"paddle master: warning: NO TOKEN IS SET: whoever reaches {address} can take tasks, and have "
            "files of this machine looked at; give it a --token_file, or an address of a private network."
        )
    announce(f"paddle master: listening on {', '.join(f'{host}:{port}' for host, port in places)}")


def _announce(ports: list[tuple[str, int]], *, has_token: bool) -> None:
    for notice in [] if has_token else _exposed(dict.fromkeys(host for host, _ in ports)):
        complain(f"paddle pserver: warning: {notice}")
    listened = ", ".join(f"{host}:{port}" for host, port in ports)
    announce(f"paddle pserver: listening on {listened}")
    reporter().ready(ports)


if __name__ == "__main__":
    sys.exit(main())
