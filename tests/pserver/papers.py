"""The papers of a node, as its agent has them."""

from __future__ import annotations

from pathlib import Path

from paddle._launch.authority import Papers
from paddle._pserver.trust.tls import Certificate, read_certificate

ADDRESSES = ("127.0.0.1", "127.0.0.2", "localhost")


class Files:
    """The papers of a node as files."""

    def __init__(self, folder: Path, papers: Papers) -> None:
        folder.mkdir()
        self.ca, self.cert, self.key = (str(folder / name) for name in ("ca", "cert", "key"))
        for path, text in (
            (self.ca, papers.authority),
            (self.cert, papers.certificate),
            (self.key, papers.key),
        ):
            Path(path).touch(0o600)
            Path(path).write_text(text)

    @property
    def certificate(self) -> Certificate:
        return read_certificate(self.cert, self.key)[0]
