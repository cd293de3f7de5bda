"""A cluster of containers: cluster/compose, in an engine of its own that ends with the tests, however they
end."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import pytest

from tests.lab import image
from tests.lab.builder import FILE, build
from tests.lab.cluster import HEAD, Cluster, Node, breaks
from tests.lab.engine import Engine
from tests.lab.group import groups_of, joining
from tests.lab.home import make_key
from tests.lab.premises import Premises
from tests.lab.processes import Process, depth, is_within, look
from tests.lab.switch import Switch, configure
from tests.waiting import until

NAMES = ("n1", "n2", "n3")
SHIPPED = 2  # another number than where NODES is not set
ADDRESS = "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key.pub"


class Compose(Cluster):
    """Three nodes of its compose file, which are shown this machine's programs, for speed.

    ``shipped``: two, and they are what a user gets of it, with what its Dockerfile installs and nothing else.
    Tests that want a full disk or a long cable are left out.
    """

    def __init__(self, *, shipped: bool = False) -> None:
        super().__init__()
        names = NAMES[: SHIPPED if shipped else None]
        self.nodes = {name: Node(name, f"10.77.0.{number}") for number, name in enumerate(names, 1)}
        if not shipped:
            self.shares = (Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve())
        self._containers: dict[str, str] = {}
        self._pids = dict.fromkeys(self.nodes, 0)
        self._switch: Switch | None = None
        self._premises = Premises([HEAD])
        self.folder, self.group = self._premises.folder, self._premises.group
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._premises.close()
        if self._switch:
            self._engine.close()
            self._switch.close()

    def _start(self) -> None:
        self.key = self.folder / "key"
        make_key(self.key)
        (self.folder / "hosts").write_text(self.hosts())
        self._switch = Switch(self._premises, bridge=False)
        self._switch.wait()
        built = None if self.shares else build(self._premises)
        self._engine = Engine(self._premises, self._switch)
        self._engine.wait()
        if built:
            self._engine.run("docker", "load", "--input", built)
            self._compose("up", "--detach", "--no-build")
        else:
            image.write(self.folder / "image.tar")
            command = 'CMD ["/bin/sh", "/node.sh"]'
            self._engine.run("docker", "import", "--change", command, self.folder / "image.tar", "node")
            self._compose("up", "--detach", "--no-build", *self.nodes, **self._shown())
        self._containers = self._by_address()
        for name in self.nodes:
            self._find(name)
            self.host_keys[name] = " ".join(self.path(name, HOST_KEY).read_text().split()[:2])
        self.home = self.new_home(self.folder / "head")
        self._premises.wait()

    def _compose(self, *words: str, **services: object) -> None:
        """Run docker-compose on its file, with services that are more than it says."""
        more = self.folder / "more.yml"
        more.write_text(json.dumps({"version": "2.4", "services": services}))
        files = ["--file", str(FILE), *(["--file", str(more)] if services else [])]
        environ = {
            "SSH_PUBLIC_KEY": str(self.key.with_suffix(".pub")),
            "IMAGE": "node",
            "NODES": str(len(self.nodes)),
        }
        self._engine.run("docker-compose", *files, "--project-name", "lab", *words, **environ)

    def _shown(self) -> dict[str, object]:
        """A service for each node, by its name, that keeps its address."""
        volumes = [f"{path}:{path}:ro" for path in (Path("/usr"), *self.shares)]
        its_own = {"extends": {"file": str(FILE), "service": "node"}, "scale": 1, "volumes": volumes}
        networks = {name: {"cluster": {"ipv4_address": node.address}} for name, node in self.nodes.items()}
        return {name: {**its_own, "hostname": name, "networks": networks[name]} for name in self.nodes}

    def _by_address(self) -> dict[str, str]:
        """The container that is each node."""
        numbers = self._engine.run("docker", "ps", "--quiet").split()
        shown = self._engine.run("docker", "inspect", "--format", ADDRESS, *numbers).split()
        at = dict(zip(shown, numbers, strict=True))
        return {name: at[node.address] for name, node in self.nodes.items()}

    def _find(self, node: str) -> None:
        """Its process 1, as soon as it listens."""
        said = self._engine.run("docker", "inspect", "--format", "{{.State.Pid}}", self._containers[node])
        self._pids[node] = pid = self._engine.process(int(said))
        until(lambda: ":0016 " in Path(f"/proc/{pid}/net/tcp").read_text(), f"sshd of {node}")

    @property
    def _bridge(self) -> Switch:
        assert self._switch
        return self._switch

    def _port(self, node: str) -> str:
        """The bridge's end of its cable."""
        index = self.path(node, "/sys/class/net/eth0/iflink").read_text().strip()
        links = json.loads(self._engine.run(*self._bridge.within("ip", "-json", "link")))
        return str(next(link["ifname"] for link in links if str(link["ifindex"]) == index))

    # Places

    def holder(self, place: str) -> int:
        if place == HEAD:
            return self._bridge.pid
        if not self._pids[place]:
            raise ProcessLookupError(f"{place} is down")
        return self._pids[place]

    def way(self, place: str, cwd: str) -> list[str]:
        go_to = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', cwd]
        if place == HEAD:
            return [*self._premises.groups[HEAD].joining(), *self._bridge.within(*go_to, mounts=True)]
        spaces = ("--mount", "--uts", "--ipc", "--net", "--pid", "--")
        enter = ["nsenter", "--target", str(self.holder(place)), *spaces]
        joined = joining(groups_of(self.holder(place)))  # so that what docker does to the node it does to it
        return [*joined, *enter, "setpriv", "--pdeathsig", "KILL", *go_to]

    def processes(self, place: str) -> list[Process]:
        if place == HEAD:
            return list(look(self._premises.groups[HEAD].pids()))
        if not (first := self._pids[place]):
            return []
        space = _network(first)
        pids = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
        inside = depth(first)
        here = (pid for pid in pids if pid != first and _network(pid) == space)
        return [one for one in look(here) if is_within(one, inside)]

    # Faults

    @breaks
    def kill(self, node: str) -> None:
        self._engine.run("docker", "kill", self._containers[node])
        self._pids[node] = 0

    @breaks
    def power_off(self, node: str) -> None:
        self.cut(node)
        self.kill(node)

    @breaks
    def reboot(self, node: str) -> None:
        if self._pids[node]:
            self._engine.run("docker", "kill", self._containers[node])
        self._engine.run("docker", "start", self._containers[node])
        self._find(node)

    @breaks
    def freeze(self, node: str) -> None:
        self._engine.run("docker", "pause", self._containers[node])

    @breaks
    def thaw(self, node: str) -> None:
        self._engine.run("docker", "unpause", self._containers[node])

    @breaks
    def cut(self, node: str) -> None:
        self._bridge.ip(f"link set {self._port(node)} down")

    @breaks
    def plug(self, node: str) -> None:
        self._bridge.ip(f"link set {self._port(node)} up")

    def filter(self, rules: str) -> None:
        configure(self._bridge.within("nft", "-f", "-"), rules)

    @breaks
    def rate(self, node: str, mbit: float | None) -> None:
        node_network = ["nsenter", "--target", str(self.holder(node)), "--net", "--"]
        self._bridge.narrow(self._port(node), node_network, mbit)

    def delay(self, node: str, ms: float, jitter_ms: float = 0.0, loss_percent: float = 0.0) -> None:
        pytest.skip("cables of containers cannot be made long")

    def fill_disk(self, node: str, leave_bytes: int = 0) -> None:
        pytest.skip("containers have no disk of their own")


def _network(pid: int) -> str:
    with contextlib.suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    return ""
