"""What a node is like, in more words than a launch needs (probe.py): for `fab check`.

It reads orders on standard input, a line of JSON each, and answers each:

    {"do": "look", "workspace", "program", "runtime", "names", "packages", "root", "hosts", "nics", "ports",
     "word"}
        hosts: addresses to listen on, those of ``nics`` where there are none; word: see ports.py
    {"do": "clock"}                     answered at once: {"now"}
    {"do": "dial", "wanted", "patience_s"}          {"dialled"}: see ports.py

It must never judge: what of this is wrong, the launcher says. Guarantee: no file, process or setting of the
node is changed. For as long as it runs it listens on ports that were free; it ends with its standard input.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from . import probe
from .answers import Answers
from .killer import PATIENCE_S
from .ports import Listeners, command, dial

_JOB = b"PADDLE_JOB_ID="
_LOOKING_S = 20.0
_WHERE = "import importlib.util as u; s = u.find_spec('paddle'); print(s.origin or '' if s else '')"


def main() -> int:
    """Answer until nothing more is asked."""
    signal.alarm(PATIENCE_S)
    answers, doing = Answers(sys.stdout.fileno()), {"look": _look, "clock": _clock, "dial": _dial}
    for line in sys.stdin:
        order = json.loads(line)
        answers.say(**doing[order["do"]](order))
    return 0


def _clock(_: dict[str, Any]) -> dict[str, Any]:
    return {"now": time.time()}


def _dial(order: dict[str, Any]) -> dict[str, Any]:
    return {"dialled": dial(order["wanted"], order["patience_s"])}


def _look(order: dict[str, Any]) -> dict[str, Any]:
    facts = probe.look(order)
    workspace, root = Path(order["workspace"]), Path(order["root"])
    return {
        "facts": facts,
        "user": _user(),
        "host": socket.gethostname(),
        "network": _network(),
        "paddle": _paddle(),
        "shadows": [name for name in ("paddle.py", "paddle") if os.path.exists(workspace / name)],  # noqa: PTH110
        "disk": _disk(Path(facts["ground"])),
        "memory": _memory(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
        "outgoing": _outgoing(),
        "ports": _ports(order, facts["devices"]),
        "jobs": _jobs(),
        "folders": len(_names(root, "JOB")),
        "runtimes": _names(root / ".paddle", "runtime-"),
    }


def _ports(order: dict[str, Any], devices: dict[str, str]) -> list[dict[str, Any]]:
    listeners = Listeners(order["word"])
    addresses = order["hosts"] or [devices[name] for name in order["nics"] if name in devices]
    return [listeners.open(address, port) for address in addresses for port in order["ports"]]


def _names(folder: Path, begin: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.startswith(begin))  # noqa: PTH208
    except OSError:  # there is none, or this user may not look into it
        return []


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # as in some containers
        return f"user {os.geteuid()}"


def _network() -> str:
    """What two names of one machine have in common."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {os.readlink('/proc/self/ns/net')}"  # noqa: PTH115  no path


def _paddle() -> str:
    """Where ``import paddle`` leads in this Python without us."""
    done = subprocess.run(
        [sys.executable, "-P", "-B", "-c", _WHERE],
        capture_output=True,
        cwd="/",
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        stdin=subprocess.DEVNULL,
        timeout=_LOOKING_S,
        text=True,
        check=False,
    )
    return done.stdout.strip()


def _disk(ground: Path) -> dict[str, Any]:
    found = os.statvfs(ground)
    return {
        "total": shutil.disk_usage(ground).total,
        "is_noexec": bool(found.f_flag & os.ST_NOEXEC),
        "is_read_only": bool(found.f_flag & os.ST_RDONLY),
    }


def _memory() -> dict[str, int]:
    """Bytes; what a container may have, where that is less than there is."""
    found = {}
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name in ("MemTotal", "MemAvailable"):
            found[name] = int(value.split()[0]) << 10
    total, available = found["MemTotal"], found.get("MemAvailable", found["MemTotal"])
    with contextlib.suppress(OSError, ValueError):  # it says "max" where there is no limit
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        total, available = min(total, limit), min(available, limit - used)
    return {"total": total, "available": available}


def _outgoing() -> tuple[int, int]:
    """The ports that the kernel gives to connections that say none."""
    try:
        low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    except (OSError, ValueError):
        return 0, 0
    return int(low), int(high)


def _jobs() -> dict[str, dict[str, str]]:
    """The processes of jobs that this user may look at: job -> pid -> command line."""
    found: dict[str, dict[str, str]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        for job in _job_of(process):
            found.setdefault(job, {})[process.name] = command(process)
    return found


def _job_of(process: Path) -> list[str]:
    try:
        variables = (process / "environ").read_bytes().split(b"\0")
    except OSError:  # it ended meanwhile, or is another user's
        return []
    jobs = [one.removeprefix(_JOB) for one in variables if one.startswith(_JOB)]
    return [job.decode("utf-8", "replace") for job in jobs[:1]]
