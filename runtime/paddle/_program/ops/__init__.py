"""The families of operators, one file each: importing one registers its rows (op_rows.py)."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
