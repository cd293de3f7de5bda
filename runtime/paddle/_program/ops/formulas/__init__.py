"""Operators that numpy computes between two engine programs, each with its slope: one file a family.

They must never know a program. Guarantee: slots, attributes and values are those of the original's operator
of that name, so what is saved with one is read there.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
