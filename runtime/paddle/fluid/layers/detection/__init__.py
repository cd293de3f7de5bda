"""Layers that find objects in images, by family; of what is not built each name says so.

It must never hold a layer itself. Boxes are (left, top, right, bottom).
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
