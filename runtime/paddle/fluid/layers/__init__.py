"""Layers: functions that append operators to the program that is being written.

Each family lies in a file of its own, whose list says which names are seen here. It must never hold a layer
itself. Guarantee: a name of fluid's that is not built says so, and
a layer that is given what it cannot take names the argument (kinds.py).
"""

from importlib import import_module
from pkgutil import iter_modules
from types import FunctionType

from paddle.fluid import core as core  # graph libraries reach through it
from paddle.fluid._listed import lacking
from paddle.fluid.layers.kinds import taking

__all__: list[str] = []
for _file in iter_modules(__path__):
    _module = import_module(f"{__name__}.{_file.name}")
    _names: list[str] = getattr(_module, "__all__", [])
    for _name in _names:
        _layer = getattr(_module, _name)
        if isinstance(_layer, FunctionType) and not hasattr(_layer, "__wrapped__"):
            setattr(_module, _name, taking(_layer))
    globals().update({_name: getattr(_module, _name) for _name in _names})
    __all__ += _names

__getattr__ = lacking(__name__)
