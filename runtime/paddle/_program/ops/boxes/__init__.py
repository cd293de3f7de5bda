"""Rows of what finds objects in images by boxes (left, top, right, bottom).

Guarantee: no gradient goes through a box that is chosen; it goes through scores, features and offsets.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
