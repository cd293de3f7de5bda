"""The head's namespaces: its network has the bridge that all cables of a lab end in, its mounts have the
nodes' disks.

One process holds them. Nothing of this is to be seen from outside.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.lab.cluster import HEAD_ADDRESS
from tests.lab.premises import Premises

# The first question for a node's address may come before its card is up: ask again soon, not in a second.
_BRIDGE = f"""
ip link add br0 type bridge forward_delay 0 stp_state 0
ip addr add {HEAD_ADDRESS}/16 dev br0
ip link set br0 up
echo 20 >/proc/sys/net/ipv4/neigh/br0/retrans_time_ms
echo 50 >/proc/sys/net/ipv4/neigh/br0/mcast_solicit
"""
_HEAD = """
ip link set lo up
mount -t sysfs sysfs /sys
mount --bind "$1/hosts" /etc/hosts
shift
for disk in "$@"; do
    mount -t tmpfs -o "size=${disk%%:*}m,mode=755" tmpfs "${disk#*:}"
done
"""


class Switch:
    """The process that holds them; ``bridge`` where nobody else makes one there."""

    def __init__(
        self, premises: Premises, disks: Iterable[Path] = (), disk_mb: int = 0, *, bridge: bool = True
    ) -> None:
        script = "\n".join(["set -eu", _HEAD, _BRIDGE if bridge else "", "echo here", "exec sleep infinity"])
        arguments = [str(premises.folder), *(f"{disk_mb}:{disk}" for disk in disks)]
        self._process = subprocess.Popen(
            [
                *(*premises.frame.joining(), "unshare", "--net", "--mount", "--propagation", "private"),
                *("/bin/sh", "-c", script, "sh", *arguments),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait(self) -> None:
        """Until it stands."""
        output, errors = self._process.stdout, self._process.stderr
        assert output and errors
        if output.readline() != b"here\n":
            raise RuntimeError(f"the lab's bridge cannot be made: {errors.read().decode()}")
        output.close()
        errors.close()

    def close(self) -> None:
        """Take notice of its end."""
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()
        self._process.wait()

    def within(self, *argv: str, mounts: bool = False) -> list[str]:
        """A command that runs in the head's network, and sees its mounts too."""
        mount = [f"--mount=/proc/{self.pid}/ns/mnt"] if mounts else []
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *mount, "--", *argv]

    def ip(self, *lines: str) -> None:
        """Run lines of ``ip -batch``."""
        configure(self.within("ip", "-batch", "-"), "\n".join(lines))

    def narrow(self, port: str, node_network: list[str], mbit: float | None) -> None:
        """Let a cable carry so much each way, or all it can: the bridge's end of it, and the node's card."""
        width = ["noqueue"] if mbit is None else f"tbf rate {mbit}mbit burst 128kb latency 100ms".split()
        for enter, card in ((self.within(), port), (node_network, "eth0")):
            configure([*enter, "tc", "qdisc", "replace", "dev", card, "root", *width])


def configure(command: list[str], text: str = "") -> None:
    """Run one of the programs that configure networks; its complaint is the error."""
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} says: {done.stderr.strip()}, to:\n{text}")
