"""What a public module lists in ``__all__`` it has, or says by name that this release has not."""

from __future__ import annotations

import importlib
from pathlib import Path

import paddle
from paddle._absent import NotInThisRelease
from paddle._fleet.errors import TooEarly

ROOT = Path(paddle.__file__).parent


def public_modules() -> list[str]:
    paths = [path.relative_to(ROOT).with_suffix("") for path in ROOT.rglob("*.py")]
    names = [".".join(path.parts).removesuffix(".__init__") for path in paths]
    return sorted(name for name in names if not any(part.startswith("_") for part in name.split(".")))


def test_every_listed_name_is_there_or_says_that_it_is_not() -> None:
    modules = public_modules()
    assert len(modules) > 100
    lost = []
    for name in modules:
        module = importlib.import_module(f"paddle.{name}")
        for listed in getattr(module, "__all__", ()):
            try:
                getattr(module, listed)
            except (NotInThisRelease, TooEarly):
                continue
            except AttributeError:
                lost.append(f"paddle.{name}.{listed}")
    assert lost == []
