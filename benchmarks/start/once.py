"""``python -m benchmarks.start.once MODULE SETTINGS``: a contender of ``models`` does its first step."""

from __future__ import annotations

import importlib
import json
import sys

if __name__ == "__main__":
    print(importlib.import_module(sys.argv[1]).prepare(json.loads(sys.argv[2])).answer)
