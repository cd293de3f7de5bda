"""A trainer that sees one pserver and not the other: cables between network namespaces, which are cut.

One namespace has the pservers and trainer 0, the other one trainer 1, and a cable to each pserver. Needs `ip`
and `unshare -rn`, as root or where users may make namespaces, and `nft` for what a firewall drops.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.by_hand import PSERVER, RUNTIME, environment
from tests.faults.conftest import ROOT
from tests.faults.random_faults.goal import Goal
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

PORT = 7164  # nobody else is there
HOSTS = ("10.77.1.2", "10.77.2.2")

# Every gradient is 1 and the rate 1: after step s all values are -2 * s, wherever they come from.
TRAIN = """
import os, socket, sys
from pathlib import Path
import numpy as np
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.trainer.remote import RemoteExchange
from tests.faults.random_faults.goal import Goal

me = int(sys.argv[1])
exchange = RemoteExchange(
    sys.argv[2].split(","), port=7164, ports_num=1, ports_num_for_sparse=0, num_gradient_servers=2,
    trainer_id=me)
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0))
model = (ParameterSpec(name="w", shape=(5000,)),)
w = exchange.start(model, update, {"w": np.zeros(5000, np.float32)})["w"]
step = 0
try:
    while Goal.wait(Path("goal"), step):
        if me and step == 5 and Path("leave").exists():
            client._socket.shutdown(socket.SHUT_RDWR)
        exchange.step({"w": np.ones(5000, np.float32)}, 1)
        step += 1
        assert set(w.tolist()) == {-2.0 * step}, (step, set(w.tolist()))
        client = exchange._shards[1].line.client
        if step == 5:  # until then without haste: this loads kernels
            client._call_timeout_s = float(sys.argv[3])
        if step in (5, 10):
            print("from", client._socket.getsockname(), flush=True)
        print("step", step, flush=True)
    exchange.end_pass(0)
    exchange.fetch()
    assert set(w.tolist()) == {-2.0 * step}
except BaseException as error:
    print(type(error).__name__, error, flush=True)
    exchange.close(str(error))
    raise SystemExit(1)
exchange.close()
"""


FIREWALL = """
table inet cut {
    chain input {
        type filter hook input priority 0
        iifname "cable2" counter drop
    }
}
"""
FLOW = """
table inet left {
    chain input {
        type filter hook input priority 0
        tcp sport PORT counter drop
    }
}
"""
"""Nothing more comes of one connection: the pserver does not learn that it has ended."""
HAS_NFT = pytest.mark.skipif(shutil.which("nft") is None, reason="there is no nft (nftables)")


@dataclass
class Networks:
    """Two namespaces, held by two processes."""

    servers: subprocess.Popen[bytes]
    trainer: subprocess.Popen[bytes]

    def within(self, holder: subprocess.Popen[bytes], *argv: str) -> list[str]:
        return ["nsenter", "-t", str(holder.pid), "-U", "-n", "--preserve-credentials", *argv]

    def ip(self, holder: subprocess.Popen[bytes], *lines: str) -> None:
        command = self.within(holder, "ip", "-batch", "-")
        subprocess.run(command, input="\n".join(lines), text=True, check=True, capture_output=True)

    def cable(self, number: int) -> None:
        """Between the two, with addresses .1 at the trainer and .2 at the pserver."""
        name = f"cable{number}"
        self.ip(
            self.servers,
            f"link add {name} type veth peer name {name} netns {self.trainer.pid}",
            f"addr add 10.77.{number}.2/30 dev {name}",
            f"link set {name} up",
        )
        self.ip(self.trainer, f"addr add 10.77.{number}.1/30 dev {name}", f"link set {name} up")

    def cut(self, how: str, *, heal: bool = False) -> None:
        """The second cable; or what comes by it, which a firewall drops; or only what goes back by it, which
        the kernel drops, both without a word."""
        if how == "cable":
            return self.ip(self.servers, f"link set cable2 {'up' if heal else 'down'}")
        if how == "firewall":
            rules = "delete table inet cut" if heal else FIREWALL
            command = self.within(self.servers, "nft", "-f", "-")
            subprocess.run(command, input=rules, text=True, check=True, capture_output=True)
            return None
        return self.ip(self.servers, f"route {'del' if heal else 'add'} blackhole 10.77.2.1/32")


@contextlib.contextmanager
def networks() -> Iterator[Networks]:
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may make no network namespaces")
    holders: list[subprocess.Popen[bytes]] = []
    try:
        holders.append(
            subprocess.Popen(["unshare", "-rn", "sh", "-c", "echo; exec sleep infinity"], stdout=-1)
        )
        holders[0].stdout.read(1)  # type: ignore[union-attr]
        nested = Networks(holders[0], holders[0]).within(
            holders[0], "unshare", "-n", "sh", "-c", "echo; exec sleep infinity"
        )
        holders.append(subprocess.Popen(nested, stdout=-1))
        holders[1].stdout.read(1)  # type: ignore[union-attr]
        made = Networks(*holders)
        for holder in holders:
            made.ip(holder, "link set lo up")
        made.cable(1)
        made.cable(2)
        yield made
    finally:
        for holder in holders:
            holder.kill()
            holder.communicate()


@dataclass
class Job:
    """Two pservers and two trainers, each with its output in a file."""

    folder: Path
    goal: Goal
    processes: dict[str, subprocess.Popen[bytes]]

    def said(self, name: str) -> str:
        return (self.folder / name).read_text()

    def steps(self, trainer: int) -> int:
        return len(re.findall(r"^step \d+$", self.said(f"trainer {trainer}"), re.MULTILINE))

    def ports(self) -> list[str]:
        """From which trainer 1 has spoken to the second pserver, one after the other."""
        return re.findall(r"^from \('10.77.2.1', (\d+)\)$", self.said("trainer 1"), re.MULTILINE)

    def resent(self) -> int:
        """Segments that trainer 1's kernel has sent again."""
        table = Path(f"/proc/{self.processes['trainer 1'].pid}/net/snmp").read_text().splitlines()
        names, values = (line.split() for line in table if line.startswith("Tcp:"))
        return int(values[names.index("RetransSegs")])

    def statuses(self) -> dict[str, int]:
        return {name: process.wait(PATIENCE_S) for name, process in self.processes.items()}


@contextlib.contextmanager
def job(folder: Path, made: Networks, patience_s: float) -> Iterator[Job]:
    """``patience_s``: trainer 1's with the second pserver, behind the cable that is cut; with the first one,
    where it waits for trainer 0, it has as much as any machine needs."""
    (folder / "train.py").write_text(TRAIN)
    running = Job(folder, Goal(folder / "goal"), {})

    def start(name: str, holder: subprocess.Popen[bytes], *argv: str) -> None:
        with (folder / name).open("wb") as output:
            running.processes[name] = subprocess.Popen(
                made.within(holder, *argv),
                cwd=folder,
                env=environment(PYTHONPATH=f"{RUNTIME}:{ROOT}"),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    try:
        for host in HOSTS:
            flags = [
                f"--port={PORT}",
                "--num_gradient_servers=2",
                "--ports_num_for_sparse=0",
                "--barrier_timeout=15",  # one trainer may start so much later than the other
            ]
            start(host, made.servers, *PSERVER, f"--host={host}", *flags)
        for id, holder in enumerate((made.servers, made.trainer)):
            start(
                f"trainer {id}",
                holder,
                sys.executable,
                "train.py",
                str(id),
                ",".join(HOSTS),
                str(patience_s if id else 60),
            )
        running.goal.raise_to(5)
        until(lambda: [running.steps(id) for id in (0, 1)] == [5, 5], "five steps")
        yield running
    finally:
        for process in running.processes.values():
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    "how", [pytest.param("cable", marks=pytest.mark.thorough), pytest.param("firewall", marks=HAS_NFT)]
)
def test_one_that_sees_one_pserver_only_gives_up_at_its_deadline_and_nobody_sees_half_a_step(
    tmp_path: Path, how: str
) -> None:
    with networks() as made, job(tmp_path, made, patience_s=2) as running:
        made.cut(how)
        running.goal.raise_to(50)
        assert running.statuses() == {"trainer 0": 1, "trainer 1": 1, HOSTS[0]: 1, HOSTS[1]: 1}
        asked = f"dense shard at {HOSTS[1]}:{PORT} was asked to take the gradient of step 6"
        said = rf"ShardUnreachable {re.escape(asked)}, and no answer came within ([\d.]+) s"
        (waited_s,) = re.findall(said, running.said("trainer 1"))
        assert float(waited_s) >= 2
        assert "TrainerLost" in (first := running.said("trainer 0"))
        assert "trainer 1 at 10.77.1.1" in first, "the pserver that trainer 1 sees knows, and has told"
        assert [running.steps(id) for id in (0, 1)] == [5, 5]


def test_answers_that_come_again_before_the_deadline_were_not_missed(tmp_path: Path) -> None:
    with networks() as made, job(tmp_path, made, patience_s=60) as running:
        made.cut("answers")
        before = running.resent()
        running.goal.raise_to(20)
        until(lambda: running.resent() > before + 1, "trainer 1 to send again")
        until(lambda: running.steps(0) == 6, "trainer 0 to go on: both pservers have the sixth of 1")
        assert [running.steps(id) for id in (0, 1)] == [6, 5]
        made.cut("answers", heal=True)
        running.goal.end(at_once=False)
        assert set(running.statuses().values()) == {0}
        assert [running.steps(id) for id in (0, 1)] == [20, 20]


@HAS_NFT
def test_one_that_comes_back_while_its_old_connection_is_there_is_heard_on_the_new_one(
    tmp_path: Path,
) -> None:
    with networks() as made, job(tmp_path, made, patience_s=60) as running:
        rules = FLOW.replace("PORT", running.ports()[0])
        nft = made.within(made.servers, "nft", "-f", "-")
        subprocess.run(nft, input=rules, text=True, check=True, capture_output=True)
        (tmp_path / "leave").touch()
        running.goal.raise_to(20)
        until(lambda: [running.steps(id) for id in (0, 1)] == [20, 20], "both to go on")
        running.goal.end(at_once=False)
        assert set(running.statuses().values()) == {0}
        assert len({*running.ports()}) == 2
        assert "lost trainer 1" not in running.said(HOSTS[1]), "the old one ended before the new one came"
