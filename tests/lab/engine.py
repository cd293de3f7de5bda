"""An engine of containers that belongs to one cluster: dockerd in a process namespace of its own, and in the
head's network. One that builds an image is in this machine's, from which packages come.

Its end ends every container and all that it made: bridges, mounts, control groups. In this machine's network
it makes nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

from tests.lab.premises import HERE, Premises
from tests.lab.switch import Switch
from tests.waiting import until

SCRIPT = HERE / "engine.sh"


class Engine:
    """It starts at once; ``wait`` for it before the first ``docker``. ``script``: its process 1, which may
    start more than an engine."""

    def __init__(
        self, premises: Premises, switch: Switch | None, script: Path = SCRIPT, *arguments: str | Path
    ) -> None:
        name = "engine" if switch else "builder"
        self.log = premises.folder / f"{name}.log"
        self._group = premises.folder.name
        self.folder = premises.folder / name
        first = ["/bin/sh", script, self.folder, self._group, *arguments]
        spaces = ["unshare", "--mount", "--pid", "--fork", "--propagation", "private"]
        # Not the head's view of /sys: the engine is to see control groups.
        enter = ["nsenter", f"--net=/proc/{switch.pid}/ns/net", "--"] if switch else []
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*premises.frame.joining(), *enter, *spaces, *map(str, first)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    @property
    def _children(self) -> list[str]:
        return Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()

    @property
    def socket(self) -> str:
        """Where it listens, as seen from anywhere."""
        return str(self.path("run/docker.sock"))

    def path(self, path: str | Path) -> Path:
        """A file that it sees, as seen from anywhere."""
        return Path("/proc", self._children[0], "root", str(path).lstrip("/"))

    def wait(self) -> None:
        """Until it answers."""
        until(self._answers, f"dockerd, see {self.log}")

    def _answers(self) -> bool:
        if self._process.poll() is not None:
            raise RuntimeError(f"dockerd does not start: {self.log.read_text()}")
        try:
            with socket.socket(socket.AF_UNIX) as asking:
                asking.connect(self.socket)
                asking.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b"200 OK" in asking.recv(100)
        except (OSError, IndexError):
            return False

    def run(self, *argv: str | Path, **environ: str) -> str:
        """Run one of its clients; gives what it says."""
        done = subprocess.run(
            list(map(str, argv)),
            env={**os.environ, "DOCKER_HOST": f"unix://{self.socket}", **environ},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, argv))} says: {done.stdout}{done.stderr}")
        return done.stdout

    def process(self, pid: int) -> int:
        """What we call a process of which the engine says ``pid``."""
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self._calls(entry) == pid:
                    return int(entry.name)
            except OSError:
                continue
        raise ProcessLookupError(pid)

    def _calls(self, entry: Path) -> int | None:
        """What the engine calls a process of ours, where it is one of its own."""
        if self._group not in (entry / "cgroup").read_text():
            return None
        lines = (entry / "status").read_text().splitlines()
        pids = next(line.split()[1:] for line in lines if line.startswith("NSpid:"))
        return int(pids[1]) if len(pids) > 2 else None

    def end(self) -> None:
        """End it, and all that it has started."""
        os.kill(int(self._children[0]), signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """Take notice of its end."""
        self._process.wait()
