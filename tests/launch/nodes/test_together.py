"""Many nodes at once: each ends by itself, none keeps another waiting, and all end by the deadline."""

from __future__ import annotations

import threading

import pytest

from paddle._launch.errors import NodeLost, NodeUnfit
from paddle._launch.nodes.together import together
from tests.waiting import until


def test_what_came_of_each_is_given_in_order_and_failures_as_values() -> None:
    def fails() -> int:
        raise NodeUnfit("no")

    def breaks() -> int:
        raise ValueError("odd")

    values, errors = together({1: lambda: 10, 2: fails, 3: breaks, 0: lambda: 0}, 30)
    assert list(values.items()) == [(1, 10), (0, 0)]
    assert {key: str(error) for key, error in errors.items()} == {2: "no", 3: "ValueError: odd"}
    assert isinstance(errors[2], NodeUnfit)


def test_one_that_does_not_come_back_is_given_up_at_the_deadline() -> None:
    never = threading.Event()
    values, errors = together({0: never.wait, 1: lambda: True}, 0.05)
    assert values == {1: True}
    assert isinstance(errors[0], NodeLost)
    assert "did not answer within" in str(errors[0])
    never.set()


@pytest.mark.parametrize(("nodes", "most"), [(3, 16), (64, 16), (64, 64)])
def test_all_go_at_once_up_to_the_bound(nodes: int, most: int) -> None:
    gate, lock, now = threading.Event(), threading.Lock(), [0, 0]

    def task() -> None:
        with lock:
            now[0] += 1
            now[1] = max(now)
        assert gate.wait(30)
        with lock:
            now[0] -= 1

    def release() -> None:
        until(lambda: now[0] == min(nodes, most), "as many as may")
        gate.set()

    threading.Thread(target=release, daemon=True).start()
    values, errors = together(dict.fromkeys(range(nodes), task), 30, most)
    assert (len(values), errors, now[1]) == (nodes, {}, min(nodes, most))
