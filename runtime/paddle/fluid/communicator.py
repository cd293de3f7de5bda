"""``fluid.communicator``: what sends a trainer's gradients while it goes on, of 1.5 to 1.8.

It must never know a connection. Guarantee: a program that starts and stops one trains as it would without:
its exchange sends gradients, and says goodbye.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument

__all__ = ["Communicator"]


class Communicator:
    """Of a trainer's ``program``. ``mode``, ``kwargs`` and ``envs`` are fleet's in the original, and its
    strategies say the same here."""

    def __init__(self, program: Any, mode: Any = None, kwargs: Any = None, envs: Any = None) -> None:
        if not isinstance(program, Program):
            raise BadArgument(f"Communicator takes the program of a trainer, and not {program!r}")
        told = [name for name, given in (("mode", mode), ("kwargs", kwargs), ("envs", envs)) if given]
        if told:
            raise NotInThisRelease(
                f"Communicator({told[0]}=...) is not in this release: StrategyFactory, or a "
                "DistributeTranspilerConfig, says how gradients are sent"
            )
        self._is_running = False

    def start(self) -> None:
        """Gradients are sent from now on, as they are by every run of the program."""
        self._is_running = True

    def stop(self) -> None:
        """Nothing is left to be sent: ``exe.close()`` or ``fleet.stop_worker()`` sends it."""
        self._is_running = False

    def is_running(self) -> bool:
        """Whether it was started, and not stopped since."""
        return self._is_running
