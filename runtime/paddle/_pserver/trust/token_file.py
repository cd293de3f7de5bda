"""The file that holds a job's token: one line of text, for its owner's eyes only.

It must never show what is in it. Guarantee: a file from which no token comes is told by name, with how to
make one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from paddle._pserver.errors import BadTokenFile
from paddle._pserver.trust.auth import Token

_SHORTEST, _LONGEST = 16, 4096
HOW = (
    "Make one with `(umask 077; python3 -c 'import secrets; print(secrets.token_hex(32))' > job.token)`, and "
    "give it to every process of the job: --token_file=job.token, or PADDLE_TOKEN_FILE"
)


def read_token(path: str) -> tuple[Token, str | None]:
    """The token in a file, and a warning where others may read it. Raises BadTokenFile."""
    try:
        descriptor = os.open(Path(path).expanduser(), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if not stat.S_ISREG(mode):
                raise BadTokenFile(f"token_file {path} is not a file. {HOW}.")
            key = file.read(_LONGEST + 1).strip()
    except (OSError, RuntimeError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise BadTokenFile(f"cannot read token_file {path}: {why}. {HOW}.") from error
    if not _SHORTEST <= len(key) <= _LONGEST:
        raise BadTokenFile(
            f"token_file {path} has {min(len(key), _LONGEST)} bytes; a token has {_SHORTEST} to {_LONGEST}. "
            f"{HOW}."
        )
    return Token(key), _warning(path, mode)


def token_of(path: str, notice: Callable[[str], None]) -> Token | None:
    """The token in a file, none where no file is named; ``notice`` is told a warning."""
    if not path:
        return None
    token, warning = read_token(path)
    if warning is not None:
        notice(f"warning: {warning}")
    return token


def _warning(path: str, mode: int) -> str | None:
    if not mode & (stat.S_IRWXG | stat.S_IRWXO):
        return None
    return f"others on this machine may read the token in {path}: `chmod 600 {path}`"
