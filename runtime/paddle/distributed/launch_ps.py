"""``python -m paddle.distributed.launch_ps``, as fleet 1.x starts a program as servers and trainers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from paddle._launch import signals

if __name__ == "__main__":
    signals.hold_back()

from paddle._absent import AbsentName
from paddle._launch.fleet.cli import main as fleetrun
from paddle._launch.fleet.older import as_fleetrun

__all__ = ["launch", "main"]

_PARTS = frozenset({"parse_args", "start_procs"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, this program's own if none is given; gives the exit status."""
    return fleetrun(as_fleetrun(sys.argv[1:] if argv is None else argv))


def launch() -> None:
    """The same, as programs of 1.8 call it: it comes back where all went well, else the process exits."""
    if status := main():
        sys.exit(status)


def __getattr__(name: str) -> NoReturn:
    if name in _PARTS:
        raise AbsentName(
            f"{__name__}.{name} is not in this release: it is a part of the launcher. Start the whole, "
            "python -m paddle.distributed.launch_ps, or call launch() with its words in sys.argv"
        )
    raise AttributeError(f"{__name__}.{name} does not exist", name=name)


if __name__ == "__main__":
    sys.exit(main())
