"""The image of a node in half a second: folders and a few files, for containers that are shown this machine's
``/usr``.

What cluster/compose/Dockerfile makes by installing packages is there already, on the machine that runs the
tests.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

COMPOSE = Path(__file__).resolve().parents[2] / "cluster" / "compose"
FOLDERS = ("usr", "etc/ssh", "root", "srv/paddle", "tmp", "var/tmp", "var/log", "run", "proc", "sys", "dev")
OF_THE_MACHINE = (
    *("etc/nsswitch.conf", "etc/ld.so.cache", "etc/ld.so.conf", "etc/ld.so.conf.d", "etc/alternatives"),
    *("etc/profile", "etc/bash.bashrc", "etc/environment", "etc/login.defs"),
    *("bin", "sbin", "lib", "lib32", "lib64"),  # links into /usr
)
PADDLE = "paddle:x:7164:7164::/srv/paddle:/bin/bash\n"


def write(path: Path) -> None:
    """Write it as ``docker import`` reads it."""
    with tarfile.open(path, "w") as tar:
        for name in FOLDERS:
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(folder)
        for name in OF_THE_MACHINE:
            if (Path("/") / name).exists():
                tar.add(f"/{name}", name)
        users = Path("/etc/passwd").read_text()
        _put(tar, "etc/passwd", users + PADDLE)
        _put(tar, "etc/group", Path("/etc/group").read_text() + "paddle:x:7164:\n")
        names = [line.split(":")[0] for line in (users + PADDLE).splitlines()]
        _put(tar, "etc/shadow", "".join(f"{name}:*:20000:0:99999:7:::\n" for name in names), 0o600)
        _put(tar, "etc/ssh/sshd_config", (COMPOSE / "sshd_config").read_text())
        _put(tar, "node.sh", (COMPOSE / "node.sh").read_text())


def _put(tar: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(text.encode()), mode
    tar.addfile(entry, io.BytesIO(text.encode()))
