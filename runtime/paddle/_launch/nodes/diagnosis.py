"""What of a node's survey is well and what is not: rules, each with its words and what to do next.

It must never know how a node is asked, nor a clock, a file or a process. Guarantee: the same survey gives the
same findings, and what would refuse a launch (machines/fitness.py) fails here too, in the same words.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.machines import fitness
from paddle._launch.machines.transport import About
from paddle._launch.nodes.findings import Finding, State
from paddle._launch.nodes.survey import OURS, REAL, Asked, Port, Seen
from paddle._launch.screens import sizes

_ROOMY = 512 << 20
_MANY_FILES = 10_000
_MUCH_MEMORY = 512 << 20  # a pserver and a trainer take most of it before they have a parameter
_CLOCKS_DIFFER_S = 60.0
_LONGEST = 60  # of a command that is shown
_PORTS = "{ports}"
_OTHER_PORTS = "PADDLE_PORT in conf.py (--port=N) chooses other ports."
_A_DAY_S = 86_400.0  # by which certificates of a launch are older than they are (authority.py)
Said = tuple[str, State, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A node that was visited. ``name``: as HOSTS has it; ``live``: ids of jobs that run; ``clock_s``:
    between which and which its clock is ahead."""

    node: int
    name: str
    asked: Asked
    seen: Seen
    live: Collection[str]
    clock_s: tuple[float, float]
    about: About | None
    took_s: float


def of_node(visit: Visit, *, encrypts: bool, is_twin: bool = False) -> Iterator[Finding]:
    """Judge what a node says of itself. ``is_twin``: its ports are held for another node that it is, too."""
    rules = (_ssh, _python, _runtime, _workspace, _paddle, _disk, _memory, _network, _ports, _jobs)
    for rule in rules:
        for what, state, text in () if is_twin and rule is _ports else rule(visit):
            yield Finding(visit.node, what, state, text)
    yield _clock(visit, encrypts=encrypts)


def _ssh(visit: Visit) -> Iterator[Said]:
    seen, about = visit.seen, visit.about
    if about is None:
        yield "machine", State.OK, f"this one, as {seen.user}"
        return
    yield (
        "ssh",
        State.OK,
        f"logged in as {about.door.name} in {visit.took_s:.2f} s; host {seen.host}, key {about.kind} "
        f"{about.fingerprint}",
    )


def _python(visit: Visit) -> Iterator[Said]:
    facts = visit.seen.facts
    yield "python", State.OK, f"{facts.python}, {'.'.join(map(str, facts.version))}"
    lacking = [text for subject, text in fitness.lacks(facts, visit.asked.wanted) if subject == "packages"]
    yield from (("packages", State.FAIL, text) for text in lacking)
    if not lacking:
        versions = " ".join(f"{name} {facts.packages[name]}" for name in fitness.PACKAGES)
        yield "packages", State.OK, versions


def _runtime(visit: Visit) -> Iterator[Said]:
    if visit.about is None:
        return
    others = len(visit.seen.runtimes) - visit.seen.facts.has_runtime
    beside = f"; {others} of other releases beside it" if others else ""
    if visit.seen.facts.has_runtime:
        yield "runtime", State.OK, f"that of this launcher is there{beside}"
    else:
        yield "runtime", State.OK, f"a launch sends it{beside}"


def _workspace(visit: Visit) -> Iterator[Said]:
    place = visit.asked.wanted.workspace
    for name in visit.seen.shadows:
        yield (
            "workspace",
            State.FAIL,
            f"{place / name} would hide the paddle that train.py imports. Give it another name.",
        )


def _paddle(visit: Visit) -> Iterator[Said]:
    seen, python = visit.seen, shlex.quote(visit.seen.facts.python)
    real = [f"{name} {version}" for name in REAL if (version := seen.facts.packages.get(name))]
    is_ours = bool(seen.facts.packages.get(OURS)) and not real
    if not seen.paddle or is_ours:
        yield "paddle", State.OK, "none beside this project's"
        return
    what = f"a real {' and '.join(real)}" if real else "something else that is called paddle"
    removed = f"`{python} -m pip uninstall {real[0].split()[0]}` takes it away, or g" if real else "G"
    yield (
        "paddle",
        State.WARN,
        f"its Python has {what}, {seen.paddle}. Jobs import this project's, which stands before it on "
        f"their path; a program that you start there by yourself does not. {removed}ive jobs a Python of "
        "their own: `fab install`.",
    )


def _disk(visit: Visit) -> Iterator[Said]:
    facts, disk, wanted = visit.seen.facts, visit.seen.disk, visit.asked.wanted
    failing = [text for subject, text in fitness.lacks(facts, wanted) if subject == "disk"]
    if disk.is_read_only and wanted.size is not None:
        failing = [
            f"{facts.ground} is mounted read-only. Mount it anew, or name another ROOT_DIR in conf.py."
        ]
    warned = list(_narrow(visit))
    own = visit.asked.root / ".paddle"
    if disk.is_noexec:
        text = (
            f"{facts.ground} is mounted noexec, so a Python that `fab install` makes in {own} cannot load "
            f"its packages. `mount -o remount,exec` there, or name another ROOT_DIR in conf.py"
        )
        if Path(facts.python).is_relative_to(own):
            failing.append(f"{text}.")
        else:
            warned.append(f"{text}, should you want one.")
    yield from (("disk", State.FAIL, text) for text in failing)
    yield from (("disk", State.WARN, text) for text in warned if not failing)
    if not failing and not warned:
        free = (
            "unknown room" if facts.free is None else f"{sizes.of(facts.free)} of {sizes.of(disk.total)} free"
        )
        kept = (
            f", {visit.seen.folders} JOB folder{'s' * (visit.seen.folders > 1)}" if visit.seen.folders else ""
        )
        yield "disk", State.OK, f"{free} in {facts.ground}{kept}"


def _narrow(visit: Visit) -> Iterator[str]:
    facts, disk = visit.seen.facts, visit.seen.disk
    if facts.free is not None and facts.free < _ROOMY:
        yield (
            f"{facts.ground} has {sizes.of(facts.free)} left of {sizes.of(disk.total)}: logs and snapshots "
            "may fill it. Make room (`fab clean`), or name another ROOT_DIR in conf.py."
        )
    if facts.free_files is not None and facts.free_files < _MANY_FILES:
        yield (
            f"the disk of {facts.ground} takes {facts.free_files:,} files more, whatever room it has "
            f"(`df -i {shlex.quote(facts.ground)}`). Remove some there, or name another ROOT_DIR in conf.py."
        )


def _memory(visit: Visit) -> Iterator[Said]:
    seen, shards = visit.seen, len(visit.asked.ports)
    warned = False
    if seen.memory.available < _MUCH_MEMORY:
        yield (
            "memory",
            State.WARN,
            f"{sizes.of(seen.memory.available)} of {sizes.of(seen.memory.total)} is free, and a pserver and "
            "a trainer want more. End what holds it (`ps aux --sort=-rss | head` there).",
        )
        warned = True
    if shards > seen.cores:
        yield (
            "cores",
            State.WARN,
            f"{shards} ports are as many processes, on {seen.cores} cores: they take turns. Fewer ports "
            "(PADDLE_PORTS_NUM in conf.py) would do.",
        )
        warned = True
    if seen.load > 2 * seen.cores:
        yield (
            "cores",
            State.WARN,
            f"it is busy: load {seen.load:.1f} on {seen.cores} cores. In step the slowest node sets the pace "
            "(`top` there says what runs).",
        )
        warned = True
    if not warned:
        yield (
            "memory",
            State.OK,
            f"{sizes.of(seen.memory.available)} of {sizes.of(seen.memory.total)} free, {seen.cores} cores, "
            f"load {seen.load:.1f}",
        )


def _network(visit: Visit) -> Iterator[Said]:
    wanted, facts = visit.asked.wanted, visit.seen.facts
    if visit.about is None:
        return
    failing = [text for subject, text in fitness.lacks(facts, wanted) if subject == "network"]
    yield from (("network", State.FAIL, text) for text in failing)
    if not failing:
        bound = ", ".join(f"{name} has {facts.devices[name]}" for name in wanted.nics)
        yield "network", State.OK, "; ".join(filter(None, [bound, "it knows the names of all pservers"]))


def _ports(visit: Visit) -> Iterator[Said]:
    low, high = visit.seen.outgoing
    busy: dict[str, list[Port]] = {}
    for port in visit.seen.ports:
        if port.state != "free":
            busy.setdefault(_holder(port, visit), []).append(port)
    for text, ports in busy.items():
        names = ", ".join(str(port.port) for port in ports)
        yield "ports", State.FAIL, f"{text.replace(_PORTS, names)}; {_OTHER_PORTS}"
    if exposed := [str(port) for port in visit.asked.ports if low <= port <= high]:
        yield (
            "ports",
            State.WARN,
            f"{', '.join(exposed)} may be given to any outgoing connection there ({low}-{high}), and be "
            "taken when a job starts. Take ports below: PADDLE_PORT in conf.py.",
        )
    elif visit.seen.ports and not busy:
        names = ", ".join(map(str, visit.asked.ports))
        yield "ports", State.OK, f"{names} free at {visit.seen.ports[0].address}"


def _holder(port: Port, visit: Visit) -> str:
    """Why a port cannot be had, in words that others may share, and what to do."""
    if port.state == "refused":
        rights = ". Ports below 1024 are for root" if port.port < 1024 else ""
        return f"cannot listen on {_PORTS} of {port.address}: {port.text}{rights}"
    job = next((job for job, pids in visit.seen.jobs.items() if port.pid in pids), "")
    if job in visit.live:
        return f"{_PORTS} held by your job {job}. `fab stop --job={job}` ends that"
    return f"{_PORTS} held by {port.text}{f' of {job}' if job else ''}. End that"


def _jobs(visit: Visit) -> Iterator[Said]:
    for job, processes in visit.seen.jobs.items():
        if job in visit.live:
            yield "jobs", State.OK, f"{job} runs here: {len(processes)} of its processes"
            continue
        kill = f"kill {' '.join(map(str, processes))}"
        if visit.about is not None:
            kill = f"{visit.about.door.command} {kill}"
        shown = "; ".join(f"{pid} {_short(command)}" for pid, command in list(processes.items())[:2])
        yield (
            "jobs",
            State.WARN,
            f"processes of {job}, which no launcher of yours on this machine runs: {shown}. Another user or "
            "machine may; if none does and they do not end by themselves within a minute, "
            f"`{kill}` does.",
        )


def _clock(visit: Visit, *, encrypts: bool) -> Finding:
    low, high = visit.clock_s
    apart = 0.0 if low <= 0 <= high else (low if low > 0 else high)
    way = "ahead of" if apart > 0 else "behind"
    said = f"{_time(abs(apart))} {way} this machine's"
    if encrypts and apart < -_A_DAY_S:
        text = (
            f"{said}: its trainer would take the certificates of a launch for such of the future. Set its "
            "clock (`timedatectl set-ntp true` there), or launch with --tls=off."
        )
        return Finding(visit.node, "clock", State.FAIL, text)
    if abs(apart) >= _CLOCKS_DIFFER_S:
        text = (
            f"{said}: times in its logs and of its files are not those of others. Set it (`timedatectl "
            "set-ntp true` there). Training itself goes by no clock."
        )
        return Finding(visit.node, "clock", State.WARN, text)
    text = "that of this machine" if apart == 0.0 else said
    return Finding(visit.node, "clock", State.OK, text)


def of_all(visits: Mapping[int, Visit]) -> Iterator[Finding]:
    """Judge what shows only where nodes are seen side by side."""
    yield from _twice(visits)
    for name in ("numpy", "numba"):
        versions: dict[str, list[int]] = {}
        for node, visit in visits.items():
            if version := visit.seen.facts.packages.get(name):
                versions.setdefault(version, []).append(node)
        if len(versions) > 1:
            said = "; ".join(f"{version} on {_nodes(nodes)}" for version, nodes in versions.items())
            text = (
                f"{name} is not the same everywhere: {said}. Results may differ in their last bits; `fab "
                "install` makes it the same."
            )
            yield Finding(None, "versions", State.WARN, text)


def _twice(visits: Mapping[int, Visit]) -> Iterator[Finding]:
    machines: dict[str, list[int]] = {}
    for node in twins(visits):
        machines.setdefault(visits[node].seen.network, []).append(node)
    for nodes in machines.values():
        text = (
            f"{_nodes(nodes)} are one machine, {visits[nodes[0]].seen.host}: both pservers would want "
            "the same ports. Take all but one out of HOSTS in conf.py."
        )
        yield Finding(None, "hosts", State.FAIL, text)


def twins(visits: Mapping[int, Visit]) -> list[int]:
    """The nodes with a pserver that are one machine with another such. Local nodes are, and meant to be."""
    serving = {node: one.seen.network for node, one in visits.items() if one.about and one.asked.ports}
    return [node for node, network in serving.items() if list(serving.values()).count(network) > 1]


def _nodes(nodes: Sequence[int]) -> str:
    return f"node{'s' * (len(nodes) > 1)} {', '.join(map(str, nodes))}"


def _short(command: str) -> str:
    return command if len(command) <= _LONGEST else f"{command[:_LONGEST]}..."


def _time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.1f} hours"
