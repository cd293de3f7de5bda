"""Who is killed is gone, with all that it holds, before anything of it is touched."""

from __future__ import annotations

import signal

import pytest

from paddle._launch.agent import processes
from paddle._launch.agent.processes import Process

HUNG, ANOTHER = Process(7, 100), Process(7, 200)


@pytest.mark.parametrize("last", [None, (1, ANOTHER)], ids=["gone", "its number is another's"])
def test_who_is_killed_is_waited_for_and_nobody_else(monkeypatch: pytest.MonkeyPatch, last: object) -> None:
    seen, sent = [(1, HUNG), (1, HUNG), (1, HUNG), last], []
    monkeypatch.setattr(processes, "look_up", lambda pid: seen.pop(0))
    monkeypatch.setattr(processes, "send_signal", lambda *of: sent.append(of))
    processes.kill(HUNG)
    assert (seen, sent) == ([], [(HUNG, signal.SIGKILL)] * 3)
