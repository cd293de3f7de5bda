"""Loading behind ``init_worker``: what worker 0 does later than others, and what a worker computes apart.

Servers begin once, with what worker 0 has when it comes to them. A program that calls ``fleet.load_model``
behind ``fleet.init_worker`` means that they begin from there: so worker 0 comes to them when it has loaded,
or when anything else needs them. It must never know what is loaded.

Guarantee: whatever a worker waits for, servers have its values before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle._fleet.errors import FleetError
from paddle._program import calls

_LOADERS = ("load_model", "load_one_table")


def loads_later() -> bool:
    """Whether the program, or a module that it has imported, has a call that loads into servers."""
    return calls.in_program(_LOADERS)


class Hastened:
    """A meeting of processes, before which ``first`` is done."""

    def __init__(self, meeting: Any, first: Callable[[], None]) -> None:
        self._meeting, self._first = meeting, first

    def __getattr__(self, name: str) -> Any:
        self._first()
        return getattr(self._meeting, name)


class Apart:
    """The carrier of programs that a worker computes with values of its own, and does not train."""

    def __init__(self, carrier: Any, dirname: str) -> None:
        self._carrier, self._dirname = carrier, dirname

    def __call__(self) -> Any:
        raise FleetError(
            f"fleet.load_inference_model({self._dirname!r}) has put a saved model into this worker, which "
            "computes with it and trains no more: exe.infer_from_dataset, or a program for tests. To train "
            "from a folder, fleet.init_server(folder) in servers, or fleet.load_model(folder) before the "
            "first step"
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._carrier, name)
