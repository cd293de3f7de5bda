"""Papers: the token and the certificates of a job that is locked, in files, as a launcher makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from paddle._launch.authority import Authority


@dataclass(frozen=True, slots=True)
class Papers:
    """Paths, and the flags with which a pserver is told of them."""

    token_file: str
    tls_ca: str
    flags: tuple[str, ...]


def issue(folder: Path, addresses: Sequence[str]) -> Papers:
    """Good at ``addresses``, of pservers and of the links to them."""
    papers = Authority("random faults", datetime.now(UTC)).issue(addresses)
    texts = {
        "token": "5ec7e7" * 8,
        "crt": papers.certificate,
        "key": papers.key,
        "ca": papers.authority,
    }
    for name, text in texts.items():
        (folder / name).touch(0o600)
        (folder / name).write_text(text)
    flags = (
        f"--token_file={folder / 'token'}",
        f"--tls_cert={folder / 'crt'}",
        f"--tls_key={folder / 'key'}",
    )
    return Papers(str(folder / "token"), str(folder / "ca"), flags)
