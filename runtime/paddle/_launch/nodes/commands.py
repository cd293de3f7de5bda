"""The tasks of `fab` that speak with nodes, one function each: values in, lines out, an exit status back.

It must never know Fabric: the face does (fabfile/nodes.py). What cannot be done is a LaunchError.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from paddle._launch.arguments import parse_arguments
from paddle._launch.errors import UsageError
from paddle._launch.flag import Value
from paddle._launch.flags import BY_NAME
from paddle._launch.jobs.index import Index, Standing
from paddle._launch.machines import known_hosts
from paddle._launch.nodes import checking
from paddle._launch.nodes.checking import Wish
from paddle._launch.nodes.dialogue import Dialogue
from paddle._launch.nodes.findings import Finding, State, Table, summary
from paddle._launch.nodes.trusting import trust as have_known
from paddle._launch.settings import ROOT, RUNTIME, Settings, read_conf, settle
from paddle._streams import show

_THIS_MACHINE = ("local",)


def trust(conf: str, flags: str, form: str, *, yes: bool) -> int:
    """Have the host keys of all nodes known."""
    BY_NAME["format"].parse(form, "--format")
    settings = settings_of(conf, flags)
    dialogue = Dialogue(settings.hosts, form, yes=yes, stdin=sys.stdin, stdout=sys.stdout)
    for told in have_known(settings.hosts, dialogue.is_right, known_hosts.add):
        dialogue.tell(told)
    return dialogue.end(host_keys=settings["host_keys"])


def check(package: str, flags: str, conf: str, form: str, *, whole: bool) -> int:
    """Say whether a job could be launched on all nodes, and what keeps it from that."""
    BY_NAME["format"].parse(form, "--format")
    settings = settings_of(conf, flags)
    deployed, cwd = settings["job_workspace"], Path.cwd()
    package = package or settings["job_dispatch_package"]
    wish = Wish(
        settings=settings,
        package=cwd / Path(package).expanduser() if package else None,
        deployed=cwd / Path(deployed).expanduser() if deployed else None,
        live=frozenset(job.record.id for job in Index().jobs() if job.standing is Standing.RUNS),
        runtime=RUNTIME,
    )
    names = [host.name if host.is_local else f"{host.user}@{host.name}" for host in settings.hosts]
    found = list(checking.check(wish))
    has_failed = any(one.state is State.FAIL for one in found)
    if form == "json":
        for one in found:
            show(json.dumps(_as_data(one, names)))
        return int(has_failed)
    is_terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if is_terminal else None
    for line in Table(names, width=width, is_coloured=is_terminal, whole=whole).lines(found):
        show(line)
    show(summary(found, len(names)))
    return int(has_failed)


def settings_of(conf: str, flags: str) -> Settings:
    """The settings of a job that would be launched now; where HOSTS names no node, on this machine."""
    path = Path(conf or ROOT / "conf.py")
    path = path.resolve() if path.is_file() else path  # a pipe of the shell's has no other name
    given: Mapping[str, Value] = parse_arguments(
        shlex.split(flags), "launcher", command="paddle.py", pass_on=True
    ).values
    read = read_conf(path)
    if "hosts" not in given and not read.get("HOSTS"):
        given = {**given, "hosts": _THIS_MACHINE}
    settings = settle(path, os.environ, given, read)
    if settings.hosts[0].is_pod:
        raise UsageError(
            f"{settings.written('platform')}: nodes are pods there, and nothing is looked at, installed or "
            "cleaned in them: what pods have is in their image. `python paddle.py --dry_run` shows them."
        )
    return settings


def _as_data(one: Finding, names: Sequence[str]) -> dict[str, Any]:
    host = "" if one.node is None else names[one.node]
    return {"node": one.node, "host": host, "what": one.what, "state": one.state.lower(), "text": one.text}
