"""The file of machines, as mpirun takes it with ``-hostfile``: one on each line, what follows it aside.

Guarantee: who reads the same file reads the same machines in the same order, each once.
"""

from __future__ import annotations

from pathlib import Path

from paddle._launch.errors import UsageError

LOOPBACK = "127.0.0.1"


def read(path: Path, *, is_asked_for: bool) -> tuple[str, ...]:
    """Read the machines of a job. Without a file, where none ``is_asked_for``, it is this machine alone."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError as error:
        if not is_asked_for:
            return (LOOPBACK,)
        raise UsageError(_unread(path, error)) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unread(path, error)) from error
    words = (line.partition("#")[0].split() for line in lines)
    found = tuple(dict.fromkeys(word[0].rpartition("@")[2].partition(":")[0] for word in words if word))
    if not found:
        raise UsageError(f"{path} names no machine. Write one on each line.")
    return found


def _unread(path: Path, error: Exception) -> str:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return (
        f"{path}: {why}. It is to name the machines of the job, one on each line, and to lie on each of "
        "them: the file that mpirun has by -hostfile."
    )
