"""``python -m paddle.distributed.launch``, which is ``fleetrun``: start a program as servers and trainers."""

from __future__ import annotations

import sys
from pathlib import PurePath

from paddle._launch import signals
from paddle._loading import undisturbed

if __name__ == "__main__" or PurePath(sys.argv[0]).name == "fleetrun":
    signals.hold_back()

with undisturbed():
    from paddle._launch.fleet.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
