"""Packages that have two names, such as ``paddle.v2.fluid``, which is ``paddle.fluid``.

It must never know what is in one. Guarantee: at every depth a module of the one name is the very module of
the other, so that what is assigned to it, a default program or a folder of data, counts for both.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_loader
from types import ModuleType

_HOMES: dict[str, str] = {}


def alias(name: str, home: str) -> None:
    """From now on the package ``name``, which is being imported, is the package ``home``."""
    _HOMES[name] = home
    if not any(isinstance(finder, _Aliases) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Aliases())
    sys.modules[name] = import_module(home)


class _Aliases(MetaPathFinder, Loader):
    """Finds a module of an alias where its home has one; asked first, or a second copy would be loaded."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        meant = _meant(name)
        if meant is None:
            return None
        try:
            there = meant in sys.modules or find_spec(meant) is not None
        except ModuleNotFoundError:
            there = False
        return spec_from_loader(name, self) if there else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(_meant(module.__name__) or module.__name__)


def _meant(name: str) -> str | None:
    """What a module below an alias is called at home; None for every other."""
    for package, home in _HOMES.items():
        if name.startswith(f"{package}."):
            return home + name.removeprefix(package)
    return None
