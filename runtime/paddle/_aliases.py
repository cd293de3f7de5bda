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


def alias(name: str, home: str) -> None:
    """From now on the package ``name``, which is being imported, is the package ``home``."""
    if _ALIASES not in sys.meta_path:
        sys.meta_path.insert(0, _ALIASES)
    _ALIASES.homes[name] = home
    sys.modules[name] = import_module(home)


def offer(name: str, home: str) -> None:
    """From now on an import of ``name`` gives the module ``home``, where no other one is installed."""
    if _OFFERS not in sys.meta_path:
        sys.meta_path.append(_OFFERS)
    _OFFERS.homes[name] = home


class _Homes(MetaPathFinder, Loader):
    """Finds a module of another name where its home has one."""

    def __init__(self) -> None:
        self.homes: dict[str, str] = {}

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        meant = self._meant(name)
        if meant is None:
            return None
        try:
            there = meant in sys.modules or find_spec(meant) is not None
        except ModuleNotFoundError:
            there = False
        return spec_from_loader(name, self) if there else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self._meant(module.__name__) or module.__name__)

    def _meant(self, name: str) -> str | None:
        """What a module is called at home; None for those that have none here."""
        for package, home in self.homes.items():
            if name == package or name.startswith(f"{package}."):
                return home + name.removeprefix(package)
        return None


_ALIASES, _OFFERS = _Homes(), _Homes()
"""The first is asked before all other finders, or a second copy would be loaded; the second behind them."""
