"""``python -m benchmarks.start.imported NAMES``: import modules, and end."""

from __future__ import annotations

import importlib
import sys

if __name__ == "__main__":
    for name in sys.argv[1].split():
        importlib.import_module(name)
