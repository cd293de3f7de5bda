"""How launchers speak to each other before a job begins: a line of JSON each way, and what proves a secret.

It must never know of what they speak. Guarantee: what comes from a stranger is ``Nonsense``, whatever it is.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import socket
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

_LONGEST = 1 << 20  # bytes of a line


class Nonsense(Exception):
    """What was said is not of this job."""


def proof(secret: bytes, nonce: str, *said: Any) -> str:
    """What shows that who has ``said`` it knows the secret. ``nonce``: the other's, for this once."""
    text = json.dumps([nonce, *said], sort_keys=True).encode()
    return hmac.new(secret, text, hashlib.sha256).hexdigest()


def send(line: socket.socket, said: Mapping[str, Any]) -> None:
    """Say it."""
    line.sendall(json.dumps(said).encode() + b"\n")


def receive(line: socket.socket, who: str = "who listens there") -> dict[str, Any]:
    """Hear what the other says. ``who``: what to call it."""
    data = b""
    while not data.endswith(b"\n"):
        more = line.recv(1 << 16)
        data += more
        if not more or len(data) > _LONGEST:
            raise Nonsense(f"{who} is none of this job, or has gone")
    try:
        said = json.loads(data)
    except ValueError as error:
        raise Nonsense(f"{who} is none of a job") from error
    if not isinstance(said, dict):
        raise Nonsense(f"{who} is none of a job")
    return said


def own_address(name: str) -> str:
    """The address of a machine if it is this one, otherwise nothing."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(name, 0, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family, kind, protocol)) as listener:
            listener.bind(address)
            return str(address[0])
    except OSError:
        return ""


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches it."""
    return address.startswith("127.")


def shown(items: Sequence[object]) -> str:
    """A list, of which a few are shown."""
    text = ", ".join(map(str, items[:8]))
    return f"{text} and {len(items) - 8} more" if len(items) > 8 else text
