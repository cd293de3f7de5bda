"""Peers that ask a real pserver for much and read little of it, or want more memory than it has: what they
cost it, and what others notice."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec
from paddle._pserver.errors import TooManyParameters
from paddle._pserver.protocol.framing import bytes_of
from paddle._pserver.protocol.messages import Pull
from paddle._pserver.trust import nearby
from tests.faults.peers.lone_pserver import ASYNCHRONOUS, Server, server
from tests.pserver.hostile import of
from tests.waiting import PATIENCE_S

pytestmark = [pytest.mark.cluster, pytest.mark.faults, pytest.mark.patient]


def test_a_model_above_the_memory_that_a_pserver_is_given_is_refused(tmp_path: Path) -> None:
    fits = (ParameterSpec(name="w", shape=(1 << 20,)),)
    with server(tmp_path / "job", 2, "--memory_limit=32") as running:
        with pytest.raises(TooManyParameters, match=r"may have 32 MiB.*--memory_limit"):
            running.declared(0, LARGE)
        running.declared(0, fits).close()


LARGE = (ParameterSpec(name="w", shape=(4 << 20,)),)  # 16 MiB
READERS = 20
QUESTIONS = 1000  # more than what is read ahead of an answer has room for
STEPS = 20


class Fast:
    """A trainer at a pserver, and what each of its steps cost the shard, in ns of processor time."""

    def __init__(self, running: Server) -> None:
        self.running, self.costs_ns = running, list[int]()
        self.exchange = running.exchange(0)
        large = np.zeros(4 << 20, np.float32)
        self.values, self.gradient = (
            self.exchange.start(LARGE, ASYNCHRONOUS, {"w": large})["w"],
            {"w": large + 1},
        )
        self.exchange.begin_pass(0)

    def step(self) -> int:
        """The version that it makes."""
        before = self.running.busy_ns()
        version = self.exchange.step(self.gradient, 1).version
        self.costs_ns.append(self.running.busy_ns() - before)
        return version

    def cost_ns(self) -> int:
        """Of all steps but the dearest fifth: somebody else had the processor's caches then."""
        return sum(sorted(self.costs_ns)[: len(self.costs_ns) * 4 // 5])


@pytest.mark.parametrize("is_encrypted", [False, True], ids=["unix", "tls"])
def test_slow_readers_cost_a_pserver_little_memory_and_others_no_progress(
    tmp_path: Path, is_encrypted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty trainers ask for 320 GB in all and read nothing, or a byte for every step of the fast one. Its
    steps cost the pserver what they cost one that has no such readers, to which a like trainer goes in turn
    with it. (What they last is another matter on a machine with other work to do.)"""
    if is_encrypted:  # which goes over TCP alone
        monkeypatch.setattr(nearby, "connect", lambda *place: None)
    with contextlib.ExitStack() as stack:
        running, other = (
            stack.enter_context(server(tmp_path / name, READERS + 1, is_encrypted=is_encrypted))
            for name in ("job", "other")
        )
        fast, alone = Fast(running), Fast(other)
        slow = [
            stack.enter_context(contextlib.closing(running.declared(1 + id, LARGE))) for id in range(READERS)
        ]
        before = running.resident_bytes()
        for client in slow:
            assert client._socket is not None
            client._socket.sendall(of(Pull()) * QUESTIONS)
        for each in (fast, alone):  # meanwhile what was asked comes, once, and room is made
            each.step()
            each.costs_ns.clear()
        most, read = 0, Counter[int]()
        for step in range(STEPS):
            assert fast.step() == alone.step() == step + 2, "it alone moves on"
            most = max(most, running.resident_bytes())
            for number, client in enumerate(slow[: READERS // 2]):
                assert client._socket is not None
                client._socket.settimeout(PATIENCE_S)
                read[number] += len(client._socket.recv(1))
        assert set(read.values()) == {STEPS}
        assert alone.cost_ns() >= 0.8 * fast.cost_ns(), f"alone {alone.costs_ns} ns, and {fast.costs_ns}"
        assert np.ptp(fast.values) == 0.0
        assert fast.values[0] < 0, "what it pulled has all its steps"
        # One that reads after all finds every answer whole.
        slow[0].close()
        late = slow[-1]
        room = np.empty(4 << 20, np.float32)
        for _ in range(3):
            late.answer([bytes_of(room)])
            assert np.ptp(room) == 0.0 or room.min() < 0
        for each in (fast, alone):
            each.exchange.close("it has seen enough")
    assert most - before < 96 << 20, f"{(most - before) >> 20} MiB for {READERS * QUESTIONS * 16} asked for"
