"""What nodes say waits for the loop, and is never much."""

from __future__ import annotations

import threading
from queue import Empty

import pytest

from paddle._launch.inbox import Inbox
from tests.waiting import PATIENCE_S, until


def flooding(inbox: Inbox[int], count: int) -> list[threading.Thread]:
    """Nodes of which each has a thousand things to say."""
    threads = [
        threading.Thread(target=lambda: [inbox.deliver(piece) for piece in range(1000)], daemon=True)
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    return threads


def test_no_more_waits_than_it_holds_and_one_of_each_node_and_all_of_it_comes() -> None:
    inbox: Inbox[int] = Inbox(most=20)
    threads = flooding(inbox, 5)
    until(lambda: inbox._pieces.qsize() > 20, "the inbox to be full")
    taken = []
    while len(taken) < 5000:
        taken.append(inbox.get(timeout=PATIENCE_S))
        assert inbox._pieces.qsize() <= 20 + 5
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(taken) == sorted(list(range(1000)) * 5)
    with pytest.raises(Empty):
        inbox.get(timeout=0.001)


def test_the_loop_never_waits_for_itself() -> None:
    inbox: Inbox[int] = Inbox(most=1)
    inbox.put(0)
    assert inbox.get(timeout=1) == 0
    for piece in range(100):
        inbox.deliver(piece)
        inbox.put(piece)
    assert inbox._pieces.qsize() == 200


def test_when_it_is_over_nobody_waits() -> None:
    inbox: Inbox[int] = Inbox(most=1)
    threads = flooding(inbox, 3)
    until(lambda: inbox._pieces.qsize() > 1, "the inbox to be full")
    inbox.close()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
