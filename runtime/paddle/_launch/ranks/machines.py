"""The file of machines, as mpirun takes it with ``-hostfile``: one on each line, what follows it aside.

Guarantee: who reads the same file reads the same machines in the same order, each once.
"""

from __future__ import annotations

from pathlib import Path

from paddle._launch import short_file
from paddle._launch.errors import UsageError

LOOPBACK = "127.0.0.1"
GIVE = (
    "the file that the engine has (mpirun's -hostfile, mpiexec's -f), by --machines=FILE. Or name them all: "
    "--machine_names=10.0.0.1,10.0.0.2"
)


def read(path: Path, *, is_needed: bool) -> tuple[str, ...]:
    """Read the machines of a job. Without a file, where none ``is_needed``, it is this machine alone."""
    try:
        lines = short_file.read(path).decode("utf-8-sig").splitlines()
    except FileNotFoundError as error:
        if not is_needed:
            return (LOOPBACK,)
        raise UsageError(_unread(path, error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unread(path, error)) from error
    words = (line.partition("#")[0].split() for line in lines)
    found = dict.fromkeys(_machine(word[0], path) for word in words if word)
    if not (named := tuple(name for name in found if name)):
        raise UsageError(f"{path} names no machine. Write one on each line.")
    return named


def _machine(word: str, path: Path) -> str:
    """The machine that a line begins with: ``user@host`` and ``host:slots`` are one. Empty: one that mpirun
    is to leave out."""
    if word.startswith("^"):
        return ""
    name = word.rpartition("@")[2]
    if word.startswith("+") or name.count(":") > 1:
        raise UsageError(
            f"{path}: {word!r} is not a name of a machine, nor an address of IPv4, by which ranks reach it. "
            "Write one, or name them all by --machine_names=10.0.0.1,10.0.0.2"
        )
    return name.partition(":")[0]


def _unread(path: Path, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return (
        f"{path}: {why}. It is to name the machines of the job, one on each line, and to lie on each of "
        f"them: {GIVE}"
    )
