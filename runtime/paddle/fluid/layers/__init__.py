"""Layers: functions that append operators to the program that is being written.

Each family lies in a file of its own, whose list says which names are seen here. It must never hold a layer
itself. Guarantee: a name of fluid's that is not built says so.
"""

from importlib import import_module
from pkgutil import iter_modules

from paddle.fluid._listed import lacking

__all__: list[str] = []
for _file in iter_modules(__path__):
    _module = import_module(f"{__name__}.{_file.name}")
    _names: list[str] = getattr(_module, "__all__", [])
    globals().update({_name: getattr(_module, _name) for _name in _names})
    __all__ += _names

__getattr__ = lacking(__name__)
