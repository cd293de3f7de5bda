"""The name server of a cluster for tests: addresses of headless services and of the pods that these name, as
the API server knows them at that moment.

Run as a program: a configuration of kubectl, the server's certificate, the address to answer at. Standard
library only. It must never answer for what a Kubernetes does not: other names are told not to exist.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
import struct
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PORT = 53
DOMAIN = ["svc", "cluster", "local"]
_A, _IN = 1, 1
_HERE, _NOT_THERE = 0x8580, 0x8583  # an answer of who knows, and "there is no such name"
_SECONDS = 1  # how long an answer holds: a pod that comes back has another address


class Directory:
    """What the API server tells of names."""

    def __init__(self, conf: str, certificate: Path) -> None:
        self._server = re.findall(r'server: "(.*?)"', conf)[0]
        self._token = re.findall(r"token: (\w+)", conf)[0]
        self._context = ssl.create_default_context(cafile=certificate)

    def look_up(self, name: str) -> list[str] | None:
        """Addresses; None where there is no such name."""
        *words, space = name.lower().rstrip(".").removesuffix("." + ".".join(DOMAIN)).split(".")
        if not name.lower().rstrip(".").endswith("." + ".".join(DOMAIN)) or len(words) not in (1, 2):
            return None
        service, host = words[-1], words[0] if len(words) == 2 else None
        at = f"/api/v1/namespaces/{space}"
        try:
            headless = self._get(f"{at}/services/{service}")["spec"].get("clusterIP") == "None"
            found = list(_addresses(self._get(f"{at}/endpoints/{service}"))) if headless else []
        except urllib.error.HTTPError:
            return None
        chosen = [address["ip"] for address in found if host in (None, address.get("hostname"))]
        return chosen or None

    def _get(self, path: str) -> Any:
        request = urllib.request.Request(
            self._server + path, headers={"Authorization": f"Bearer {self._token}"}
        )
        with urllib.request.urlopen(request, context=self._context, timeout=5) as answer:
            return json.load(answer)


def _addresses(endpoints: Any) -> Iterator[Any]:
    """Those that the controller has published: it knows of publishNotReadyAddresses."""
    for subset in endpoints.get("subsets") or []:
        yield from subset.get("addresses") or []


def answer(question: bytes, directory: Directory) -> bytes:
    """Answer one datagram."""
    labels, at = [], 12
    while size := question[at]:
        labels.append(question[at + 1 : at + 1 + size].decode())
        at += 1 + size
    (kind,) = struct.unpack(">H", question[at + 1 : at + 3])
    asked = question[12 : at + 5]
    found = directory.look_up(".".join(labels))
    if found is None:
        return question[:2] + struct.pack(">HHHHH", _NOT_THERE, 1, 0, 0, 0) + asked
    given = found if kind == _A else []
    head = question[:2] + struct.pack(">HHHHH", _HERE, 1, len(given), 0, 0) + asked
    entry = struct.pack(">HHHIH", 0xC00C, _A, _IN, _SECONDS, 4)
    return head + b"".join(entry + socket.inet_aton(address) for address in given)


def main(conf: Path, certificate: Path, address: str) -> None:
    """Answer until it is killed; a question that is none is passed over."""
    directory = Directory(conf.read_text(), certificate)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((address, PORT))
        while True:
            question, asker = line.recvfrom(1500)
            try:
                line.sendto(answer(question, directory), asker)
            except (IndexError, UnicodeDecodeError, struct.error, OSError) as error:
                print(f"{asker}: {error}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
