"""Layers that 1.8 has of arrays beside those of networks: products, diagonals, places, what is drawn, and
what click-through programs ask.

It must never hold a layer itself. Guarantee: each is the operator of 1.8 of that name, told as 1.8 tells it.
"""

from importlib import import_module
from pkgutil import iter_modules

from paddle.fluid._listed import of_layers

__all__: list[str] = []
for _file in iter_modules(__path__):
    _module = import_module(f"{__name__}.{_file.name}")
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})
    __all__ += _module.__all__

__getattr__ = of_layers(__name__)
