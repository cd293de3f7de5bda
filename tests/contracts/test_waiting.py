"""Waits of tests: who stands still has not looked, and nobody else is late for it."""

from __future__ import annotations

import time

import pytest

from tests.waiting import until


def test_who_stands_still_behind_a_look_looks_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def comes_meanwhile() -> bool:
        came = now[0] > 0
        now[0] = 9.0  # the test stands still, and it comes
        return came

    assert until(comes_meanwhile, "it", patience_s=5.0)


def test_what_never_comes_is_named() -> None:
    with pytest.raises(AssertionError, match=r"waited 0\.0 s for: it\. Nothing"):
        until(lambda: False, "it", patience_s=0.0, seen=lambda: "Nothing is there")
