"""Fluid: the generation of static programs, 0.13 to 1.8. A name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for;
a name that is not built says so, and what there is instead.
"""

from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

from paddle import _absent
from paddle.fluid import _names

__all__ = sorted({*_names.MODULES, *_names.MODULE_OF, "Tensor"} - {"load", "save"})


def __getattr__(name: str) -> Any:
    module = name if name in _names.MODULES else _names.MODULE_OF.get(name)
    if name == "Tensor":  # the same class has both names
        return __getattr__("LoDTensor")
    if module is not None and PathFinder.find_spec(f"paddle.fluid.{module}", __path__) is not None:
        found = import_module(f"paddle.fluid.{module}")
        if name in _names.MODULES:
            return found
        if hasattr(found, name):
            value = globals()[name] = getattr(found, name)
            return value
    if module is not None or name in _names.ABSENT:
        needs = _names.ABSENT.get(name, "it is not built yet")
        raise _absent.AbsentName(f"paddle.fluid.{name} is not in this release: {needs}.")
    raise AttributeError(f"paddle.fluid.{name} does not exist", name=name, obj=import_module(__name__))


_absent.explain_imports()


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
