"""The way in when the folder is run by path: a package of its own, so that ``paddle`` is not imported."""

import importlib
import sys
from pathlib import Path

sys.path[0:1] = []  # this folder: its files are reached through the package only
sys.path.append(str(Path(__file__).resolve().parent.parent))
name = {(): "halves", ("--receive",): "receiver"}.get(tuple(sys.argv[1:]), "errand")
sys.exit(importlib.import_module(f"agent.{name}").main())
