"""Where this is on PYTHONPATH, Python is of a process that a test has started: as soon as it has the engine's
executor, its plans are run beside plain ones (tests/plain/children.py). The runtime knows nothing of it."""

from __future__ import annotations

import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parents[3])


class _Awaiting(MetaPathFinder, Loader):
    """Finds the executor as others do, and has it watched when it is loaded."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "paddle._engine.executor":
            return None
        sys.meta_path.remove(self)
        found = PathFinder.find_spec(name, path, target)
        if found is not None and found.loader is not None:
            self._loader, found.loader = found.loader, self
        return found

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        sys.path.append(ROOT)  # behind the runtime, whose name a file there has, too
        try:
            from tests.plain import children
        finally:
            sys.path.remove(ROOT)
        children.report()


sys.meta_path.insert(0, _Awaiting())
