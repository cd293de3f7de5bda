"""Loading the code of a shard's first step, for as long as a test wants it to take."""

from __future__ import annotations

import threading

import pytest

from paddle._pserver.service import warming

from ..conftest import TIMEOUT_S


class SlowWarming:
    """In the place of ``warm``. ``has_begun``; it goes on until ``may_end``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_end = threading.Event(), threading.Event()
        monkeypatch.setattr(warming, "warm", self)

    def __call__(self, *declared: object) -> None:
        self.has_begun.set()
        assert self.may_end.wait(TIMEOUT_S)
