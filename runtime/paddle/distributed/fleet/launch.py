"""``python -m paddle.distributed.fleet.launch``: another name of ``paddle.distributed.launch``."""

from __future__ import annotations

import sys

from paddle._launch import signals

if __name__ == "__main__":
    signals.hold_back()

from paddle._launch.fleet.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
