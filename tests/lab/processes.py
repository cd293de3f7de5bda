"""A process of a place, as its kernel tells it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import until


@dataclass(frozen=True)
class Process:
    """One that runs. ``pid`` is what its own place calls it, ``host_pid`` what the tests may signal."""

    pid: int
    host_pid: int
    argv: tuple[str, ...]
    started: int  # in ticks since the machine's start: no two processes have both this and the pid
    environ: dict[str, str] = field(repr=False)


def look(host_pids: Iterable[int]) -> Iterator[Process]:
    """Those of them that still run."""
    for pid in host_pids:
        with contextlib.suppress(OSError):
            yield _read(pid, Path(f"/proc/{pid}"))


def depth(host_pid: int) -> int:
    """In how many process namespaces it is, one in another."""
    return len(_own_pids(Path(f"/proc/{host_pid}")))


def is_within(process: Process, inside: int) -> bool:
    """Whether it is on a node so deep itself, and not what we brought a command there with."""
    with contextlib.suppress(OSError):
        return depth(process.host_pid) >= inside
    return False


def _own_pids(entry: Path) -> list[int]:
    lines = (entry / "status").read_text().splitlines()
    found = [line.split()[1:] for line in lines if line.startswith("NSpid:")]
    if not found:  # nothing is said of one that goes just then
        raise ProcessLookupError(entry.name)
    return [int(pid) for pid in found[0]]


def _after_name(entry: Path) -> list[str]:
    """What is said of it behind its name. Raises OSError where it has ended. It has no command any more when
    it lets its memory go, a moment before; nor has one that begins another program just then."""
    words = (entry / "stat").read_text().rpartition(")")[2].split()
    if not words or words[0] in "ZX":
        raise ProcessLookupError(entry.name)
    return words


def _read(host_pid: int, entry: Path) -> Process:
    command: bytes = until(
        lambda: _after_name(entry) and (entry / "cmdline").read_bytes(), f"the words of process {host_pid}"
    )
    after_name = _after_name(entry)
    pairs = (pair.partition(b"=") for pair in (entry / "environ").read_bytes().split(b"\0") if pair)
    return Process(
        pid=_own_pids(entry)[-1],
        host_pid=host_pid,
        argv=tuple(command.decode(errors="replace").rstrip("\0").split("\0")),
        started=int(after_name[19]),
        environ={name.decode(errors="replace"): value.decode(errors="replace") for name, _, value in pairs},
    )
