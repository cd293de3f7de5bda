"""Calls that wait for each other, each in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tests.waiting import PATIENCE_S


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each of them gives, or its error; None of one that does not come back."""
    found: list[Any] = [None] * len(calls)

    def do(number: int) -> None:
        try:
            found[number] = calls[number]()
        except Exception as error:
            found[number] = error

    threads = [threading.Thread(target=do, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    return found
