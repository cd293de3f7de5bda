"""The home of somebody who may log in to the nodes: a key, host keys of the nodes, a configuration of ssh."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from cryptography.hazmat.primitives import serialization as form
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


class Home:
    """A folder with ``.ssh``, as ``HOME`` of programs at the head."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ssh = folder / ".ssh"
        ssh.mkdir(parents=True, mode=0o700)
        self.key = ssh / "id_ed25519"
        self.known_hosts = ssh / "known_hosts"
        self.ssh_config = ssh / "config"

    def furnish(
        self,
        key: Path,
        addresses: Mapping[str, str],
        ports: Iterable[int],
        host_keys: Mapping[str, str],
    ) -> None:
        """Put everything in: a key to copy, addresses and host keys of nodes by their names."""
        _write_private(self.key, key.read_bytes())
        public = self.key.with_suffix(".pub")
        public.write_text(key.with_suffix(".pub").read_text())
        known = []
        for name, address in addresses.items():
            hosts = [f"[{host}]:{port}" if port != 22 else host for host in (name, address) for port in ports]
            known.append(f"{','.join(hosts)} {host_keys[name]}\n")
        self.known_hosts.write_text("".join(known))
        hosts = [f"Host {name}\n    HostName {address}\n" for name, address in addresses.items()]
        self.ssh_config.write_text("".join(hosts) + _FOR_ALL.format(home=self))

    def renew_key(self) -> None:
        """Have one that no node knows."""
        make_key(self.key)


_FOR_ALL = """
Host *
    IdentityFile {home.key}
    IdentitiesOnly yes
    UserKnownHostsFile {home.known_hosts}
    GlobalKnownHostsFile none
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 10
    LogLevel ERROR
"""


def make_key(path: Path) -> str:
    """Write a new key, and beside it what it shows to others; gives that."""
    key = Ed25519PrivateKey.generate()
    _write_private(
        path, key.private_bytes(form.Encoding.PEM, form.PrivateFormat.OpenSSH, form.NoEncryption())
    )
    shown = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH).decode()
    path.with_suffix(".pub").write_text(shown + "\n")
    return shown


def _write_private(path: Path, content: bytes) -> None:
    path.touch(mode=0o600)
    path.write_bytes(content)
