"""A cluster of namespaces: comes up in the blink of an eye, and ends with the tests, however they end.

Every process of a lab is in a control group of its own place, below one of the lab; interfaces, mounts and
namespaces hang on these processes alone. A keeper outside kills that group when the tests close the lab or
are gone: what is left then is nothing, and the machine around was never touched.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.lab import ground
from tests.lab.cluster import HEAD, Cluster, Node, breaks
from tests.lab.home import make_key
from tests.lab.machine import Machine
from tests.lab.premises import Premises
from tests.lab.processes import Process, depth, is_within, look
from tests.lab.switch import Switch, configure

MOST_NODES = 250


class Lab(Cluster):
    """So many nodes, ``n1`` on, each a copy on write of this machine, with a home, ``/tmp`` and disk of its
    own.

    ``disk_mb``: the size of each. ``shares``: folders of this machine that nodes see, at the same place, and
    cannot write; without them none sees the project, root's home and ``/tmp`` as they are here. By default
    these are the running Python and its packages. ``kernels``: a folder of this machine in which all nodes
    keep compiled kernels, so that what one has compiled no other compiles again; without it each has its own.
    """

    def __init__(
        self,
        count: int = 3,
        *,
        disk_mb: int = 1024,
        shares: Sequence[Path] | None = None,
        kernels: Path | None = None,
    ) -> None:
        if lacking := ground.missing():
            raise RuntimeError(f"no lab can be made here: {'; '.join(lacking)}")
        if not 1 <= count <= MOST_NODES:
            raise ValueError(f"a lab has 1 to {MOST_NODES} nodes, not {count}")
        super().__init__()
        self.nodes = {f"n{i}": Node(f"n{i}", f"10.77.0.{i}") for i in range(1, count + 1)}
        self.shares = _outermost([Path(sys.prefix), Path(sys.base_prefix)] if shares is None else shares)
        self._kernels = kernels
        self._machines: dict[str, Machine] = {}
        self._switch: Switch | None = None
        self._premises = Premises((HEAD, *self.nodes))
        self.folder, self.group = self._premises.folder, self._premises.group
        try:
            self._seed()
            self._start(disk_mb)
        except BaseException:
            self.close()
            raise

    # From here to nothing

    def close(self) -> None:
        self._premises.close()
        for machine in self._machines.values():
            machine.close()
        if self._switch:
            self._switch.close()

    def _seed(self) -> None:
        """What nodes find on their first day."""
        for name in self.nodes:
            seed = self.folder / "seed" / name
            seed.mkdir(parents=True)
            self.host_keys[name] = make_key(seed / "host_key")
            (self.folder / "disks" / name).mkdir(parents=True)
        (self.folder / "hosts").write_text(self.hosts())
        self.key = self.folder / "key"
        make_key(self.key)
        self.home = self.new_home(self.folder / "head")

    def _start(self, disk_mb: int) -> None:
        disks = [self.folder / "disks" / name for name in self.nodes]
        self._switch = Switch(self._premises, disks, disk_mb)
        self._switch.wait()
        for name, node in self.nodes.items():
            machine = Machine(node, self._premises, self._switch)
            self._machines[name] = machine
        self._boot(list(self._machines.values()))
        self._premises.wait()

    def _boot(self, machines: list[Machine]) -> None:
        for machine in machines:
            machine.boot(self.shares, self._kernels)
        for machine in machines:
            machine.until_booted()
        self._bridge.ip(*(line for machine in machines for line in machine.cabling()))
        for machine in machines:
            machine.go()
        for machine in machines:
            machine.wait()

    @property
    def _bridge(self) -> Switch:
        assert self._switch
        return self._switch

    # Places

    def holder(self, place: str) -> int:
        if place == HEAD:
            return self._bridge.pid
        machine = self._machines[place]
        if not machine.runs:
            raise ProcessLookupError(f"{place} is down")
        return machine.pid

    def way(self, place: str, cwd: str) -> list[str]:
        go_to = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', cwd]
        joined = self._premises.groups[place].joining()
        if place == HEAD:
            return [*joined, *self._bridge.within(*go_to, mounts=True)]
        spaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--")
        enter = ["nsenter", "--target", str(self.holder(place)), *spaces]
        return [*joined, *enter, "setpriv", "--pdeathsig", "KILL", *go_to]

    def processes(self, place: str) -> list[Process]:
        pids = self._premises.groups[place].pids()
        if place == HEAD:
            return list(look(pids))
        first = self._machines[place].pid
        if first not in pids:
            return []  # it is down
        inside = depth(first)
        return [one for one in look(pids) if one.host_pid != first and is_within(one, inside)]

    # Faults

    @breaks
    def kill(self, node: str) -> None:
        self._machines[node].end()

    @breaks
    def power_off(self, node: str) -> None:
        self.cut(node)
        self._machines[node].end()

    @breaks
    def reboot(self, node: str) -> None:
        machine = self._machines[node]
        if machine.runs:
            machine.end()
        self._boot([machine])

    @breaks
    def freeze(self, node: str) -> None:
        self._premises.groups[node].freeze(True)

    @breaks
    def thaw(self, node: str) -> None:
        self._premises.groups[node].freeze(False)

    @breaks
    def cut(self, node: str) -> None:
        self._bridge.ip(f"link set {self._machines[node].port} down")

    @breaks
    def plug(self, node: str) -> None:
        self._bridge.ip(f"link set {self._machines[node].port} up")

    def filter(self, rules: str) -> None:
        configure(self._bridge.within("nft", "-f", "-"), rules)

    @breaks
    def rate(self, node: str, mbit: float | None) -> None:
        self._machines[node].rate(mbit)

    @breaks
    def delay(self, node: str, ms: float, jitter_ms: float = 0.0, loss_percent: float = 0.0) -> None:
        self._machines[node].lengthen(ms, jitter_ms, loss_percent)

    def change_host_key(self, node: str) -> str:
        """Give a node a new one, of which only homes made later know; gives what it shows to others."""
        self.host_keys[node] = shown = make_key(key := self.folder / "seed" / node / "host_key")
        self.path(node, "/etc/ssh/ssh_host_ed25519_key").write_bytes(key.read_bytes())
        self.renew_sshd(node)
        return shown


def _outermost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Without those that others have in them: what is mounted later would hide them."""
    folders = [folder.resolve() for folder in folders]
    return tuple(
        one
        for one in dict.fromkeys(folders)
        if not any(one != other and one.is_relative_to(other) for other in folders)
    )
