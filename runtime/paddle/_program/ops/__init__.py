"""The families of operators, one file each: importing one registers its rows (op_rows.py).

What holds for each family is said here. It must never know who calls it, how parameters are moved, or a place
where something is kept but for the scope that a host gives it. Guarantee: a row gives what the original's
operator of that name gives, in its slots; the same rule says the shapes of it when it is written.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
