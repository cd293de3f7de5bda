"""Identities: which key of the ssh agent is one of the files that a connection is to log in with.

Where ssh_config says ``IdentitiesOnly``, ssh uses keys of the files that are named there alone, but lets
the agent sign for them: their files may have a passphrase, or be the public half alone. It must never know a
host. Guarantee: of a file only what is public is read, and whatever a file holds, it is no error.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from paramiko import Agent, AgentKey, SSHException

_MAGIC = b"openssh-key-v1\0"
_FIRST = "-----BEGIN OPENSSH PRIVATE KEY-----"


def of_agent(files: Sequence[str]) -> AgentKey | None:
    """Give the agent's key for the first of ``files`` that it has one for."""
    with contextlib.suppress(SSHException, OSError):
        having = {key.asbytes(): key for key in Agent().get_keys()}
        shown = (public for file in files for public in _public_halves(Path(file)))
        return next((having[public] for public in shown if public in having), None)
    return None


def _public_halves(file: Path) -> Iterator[bytes]:
    """What a key shows to others: beside its file, in it, or it is that alone."""
    for place in (file.with_name(f"{file.name}.pub"), file):
        with contextlib.suppress(OSError, UnicodeDecodeError, binascii.Error, IndexError):
            text = place.read_text("ascii")
            if text.startswith(_FIRST):
                yield _of_private("".join(text.splitlines()[1:-1]))
            elif not text.startswith("-----"):
                yield base64.b64decode(text.split()[1], validate=True)


def _of_private(text: str) -> bytes:
    """In a private key's file: after the names of a cipher and of what makes its key, and a number."""
    data = base64.b64decode(text)
    if not data.startswith(_MAGIC):
        return b""
    data = data[len(_MAGIC) :]
    for _ in range(3):
        _, data = _word(data)
    return _word(data[4:])[0]


def _word(data: bytes) -> tuple[bytes, bytes]:
    """What is in front, after its length; and the rest."""
    size = 4 + int.from_bytes(data[:4])
    return data[4:size], data[size:]
