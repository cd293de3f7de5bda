"""``python -m paddle.distributed.launch_ps``, as fleet 1.x starts a program as servers and trainers."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from paddle._launch.fleet.cli import main as fleetrun
from paddle._launch.fleet.older import as_fleetrun

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line, this program's own if none is given; gives the exit status."""
    return fleetrun(as_fleetrun(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    sys.exit(main())
