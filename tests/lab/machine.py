"""One node of a lab: a process tree in namespaces of its own whose process 1 is an sshd, and its cable."""

from __future__ import annotations

import pwd
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.lab.cluster import PORTS, Node
from tests.lab.premises import Premises
from tests.lab.switch import Switch, configure
from tests.waiting import until

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FRESH = ("--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--propagation", "private")


class Machine:
    """One, with a disk that outlives it. ``boot``, then ``plug_in``, then ``wait``."""

    def __init__(self, node: Node, premises: Premises, switch: Switch) -> None:
        self.node = node
        self.group = premises.groups[node.name]
        self.log = premises.folder / f"{node.name}.log"
        self.pid = 0  # of its process 1, as we count
        self._folder = premises.folder
        self._frame = premises.frame
        self._switch = switch
        self._shell: subprocess.Popen[bytes] | None = None
        self._cable: subprocess.Popen[bytes] | None = None
        low = [int(part) for part in node.address.split(".")[2:]]
        self._card = (
            f"02:00:00:00:{low[0]:02x}:{low[1]:02x}"  # one that outlives a reboot, for those who know it
        )

    @property
    def port(self) -> str:
        """The bridge's end of its cable."""
        return f"v-{self.node.name}"

    def boot(self, shares: Sequence[Path], kernels: Path | None) -> None:
        """Begin to start; `until_booted` waits."""
        home = pwd.getpwuid(0).pw_dir
        arguments = [self._folder, self.node.name, self.node.address, home, ROOT, kernels or "", *shares]
        init = ["unshare", *FRESH, "/bin/sh", HERE / "boot.sh", *arguments]
        with self.log.open("ab") as log:
            self._shell = subprocess.Popen(
                [*self._frame.joining(), *self._switch.within(*map(str, init), mounts=True)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    def until_booted(self) -> None:
        """Wait until it waits to be plugged in."""
        assert self._shell and self._shell.stdout
        said = self._shell.stdout.readline()
        if said != b"here\n":
            raise RuntimeError(f"{self.node.name} does not start: {self.log.read_text()}")
        pid = self._shell.pid
        self.pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        self.group.add(self.pid)  # without what started it, which is to take notice of its end

    def cabling(self) -> list[str]:
        """What ip is to do for a plain cable."""
        return [
            f"link add {self.port} type veth peer name eth0 address {self._card} netns {self.pid}",
            f"link set {self.port} master br0",
            f"link set {self.port} up",
        ]

    def go(self) -> None:
        """It is plugged in."""
        assert self._shell and self._shell.stdin and self._shell.stdout
        self._shell.stdin.write(b"go\n")
        self._shell.stdin.close()
        self._shell.stdout.close()

    def wait(self) -> None:
        """Until its sshd listens."""
        until(self._listens, f"sshd of {self.node.name}, see {self.log}")

    def _listens(self) -> bool:
        if not Path(f"/proc/{self.pid}").exists():
            raise RuntimeError(f"{self.node.name} does not start: {self.log.read_text()}")
        lines = Path(f"/proc/{self.pid}/net/tcp").read_text().splitlines()[1:]
        listening = {int(line.split()[1].split(":")[1], 16) for line in lines if line.split()[3] == "0A"}
        return set(PORTS) <= listening

    @property
    def runs(self) -> bool:
        return self.pid in self.group.pids()

    def end(self) -> None:
        """Kill all that runs on it, and pull its cable out of the bridge."""
        self.group.kill()
        self.group.freeze(False)  # it would be frozen when it starts again
        self.settle()
        self._unplug()
        self.pid = 0

    def settle(self) -> None:
        """Take notice of the end of what was started for it."""
        if self._shell:
            with self._shell:
                self._shell = None

    def _unplug(self) -> None:
        """The kernel takes away a dead network in its own time; its cable is to be gone now."""
        if self._cable:
            with self._cable:
                self._cable.kill()
            self._cable = None
        command = self._switch.within("ip", "link", "del", self.port)
        subprocess.run(command, capture_output=True, check=False)

    def lengthen(self, delay_ms: float, jitter_ms: float, loss_percent: float) -> None:
        """Give it a cable of frames that wait, where it has a plain one, and set that."""
        if not self._cable:
            self._replace_cable()
        assert self._cable and self._cable.stdin and self._cable.stdout
        self._cable.stdin.write(f"{delay_ms} {jitter_ms} {loss_percent}\n".encode())
        self._cable.stdin.flush()
        assert self._cable.stdout.readline() == b"set\n"

    def _replace_cable(self) -> None:
        self._unplug()
        script = [sys.executable, "-I", "-S", HERE / "cable.py", self.node.name, self.pid, self._card]
        cable = subprocess.Popen(
            [*self._frame.joining(), *self._switch.within(*map(str, script))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._cable = cable
        assert cable.stdout
        if cable.stdout.readline() != b"here\n":
            raise RuntimeError(f"no cable for {self.node.name}")
        lines = f"addr add {self.node.address}/16 dev eth0\nlink set eth0 up\n"
        configure(self.within("--net", "--", "ip", "-batch", "-"), lines)

    def rate(self, mbit: float | None) -> None:
        """Limit both ends of its cable."""
        self._switch.narrow(self.port, self.within("--net", "--"), mbit)

    def within(self, *argv: str) -> list[str]:
        """A command of nsenter at this node."""
        return ["nsenter", "--target", str(self.pid), *argv]

    def close(self) -> None:
        """Take notice of the end of all that was started for it."""
        self.settle()
        if self._cable:
            with self._cable:
                pass
