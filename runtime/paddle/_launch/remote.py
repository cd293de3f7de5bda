"""What a launch needs on nodes that are other machines, beside the workspace: a Python, and the runtime.

It must never know how a node is reached. Guarantee: two runtimes come to lie in the same folder exactly when
their files are the same, so one that is there need not be sent again, and jobs of different releases do not
meet.
"""

from __future__ import annotations

import shlex
from hashlib import sha256
from pathlib import Path

import msgspec

from paddle._launch.settings import Settings
from paddle._launch.workspace import Entry, contents

_PACKAGE = "paddle"
_BESIDE = "recordio.py"  # for programs that import it before the package
_OWN = ".paddle"  # in ROOT_DIR: all that is not a job's


class Remote(msgspec.Struct, frozen=True, kw_only=True):
    """It. ``root``: ROOT_DIR there. ``pythons``: what may run roles, the first that a node has. ``runtime``:
    where the package ``paddle`` and the module beside it come to lie; ``contents``: what they are made of.
    ``nics``: the devices of pservers. ``host_keys``: known, new or any. ``mpirun``: its flags, where it leads
    to nodes and SSH does not.
    """

    root: Path
    pythons: tuple[str, ...]
    runtime: Path
    contents: tuple[Entry, ...]
    nics: tuple[str, ...]
    host_keys: str
    mpirun: tuple[str, ...] | None = None

    def size_and_count(self) -> tuple[int, int]:
        """How much the runtime is to send: bytes, and files and folders."""
        return sum(entry.size for entry in self.contents), len(self.contents)


def needs(settings: Settings, runtime: Path) -> Remote:
    """Say it for a launch. ``runtime``: the folder here that holds the package ``paddle``."""
    root, own = Path(settings["root_dir"]), settings["node_python"]
    sent = _sent(runtime / _PACKAGE)
    return Remote(
        root=root,
        pythons=(own,) if own else (str(root / _OWN / "venv/bin/python"), "python3"),
        runtime=root / _OWN / f"runtime-{_digest(sent)[:16]}",
        contents=sent,
        nics=settings["nics"],
        host_keys=settings["host_keys"],
        mpirun=tuple(shlex.split(settings["mpirun_flags"])) if settings["platform"] == "mpi" else None,
    )


def _sent(package: Path) -> tuple[Entry, ...]:
    beside = package.with_name(_BESIDE)
    return (
        *([Entry(_BESIDE, "file", beside, beside.stat().st_size)] if beside.is_file() else []),
        Entry(package.name, "folder", package),
        *(
            Entry(f"{package.name}/{entry.path}", entry.kind, entry.source, entry.size)
            for entry in contents(package)
        ),
    )


def _digest(sent: tuple[Entry, ...]) -> str:
    digest = sha256()
    for entry in sent:
        body = entry.source.read_bytes() if entry.kind == "file" else b""
        digest.update(f"{entry.kind} {entry.path!r} {len(body)}\n".encode() + body)
    return digest.hexdigest()
