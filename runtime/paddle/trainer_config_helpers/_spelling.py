"""How v1 spells what v2 has: a name of v2 and an ending.

It must never know a name. Guarantee: what is given under a name of v1 is v2's own object.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any


def spelled(module: ModuleType, names: Iterable[str], ending: str) -> dict[str, Any]:
    """What ``module`` has of ``names``, each with ``ending``."""
    return {name + ending: getattr(module, name) for name in names}
