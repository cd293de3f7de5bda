"""Static programs of the 2.x generation: ``paddle.static``. A name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for;
what did not change since fluid is fluid's.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from paddle import _absent

_HOMES = {
    "_program.backward": "append_backward gradients",
    "_program.executor": "Executor",
    "_program.places": "cpu_places cuda_places",
    "_program.guards": "default_main_program default_startup_program name_scope program_guard",
    "_program.program": "Program",
    "_program.scope": "global_scope scope_guard",
    "_program.variable": "Variable",
    "tensor.creation": "create_global_var create_parameter",
    "static.data": "InputSpec data",
    "static.place": "device_guard",
    "static.model": "load_inference_model normalize_program save_inference_model",
    "fluid": ("BuildStrategy CompiledProgram ExecutionStrategy ParallelExecutor WeightNormParamAttr"),
    "fluid.layers": "Print py_func",
    "static.measures": "accuracy auc",
    "fluid.io": "load load_program_state load_vars save save_vars set_program_state",
    "fluid.optimizer": "ExponentialMovingAverage",
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = frozenset({"nn"})

__all__ = [*sorted(_MODULES), *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.static.{name}")
    if name not in _WHERE:
        raise AttributeError(f"paddle.static.{name} does not exist", name=name, obj=sys.modules[__name__])
    try:
        value = globals()[name] = getattr(import_module(f"paddle.{_WHERE[name]}"), name)
    except (ImportError, _absent.NotInThisRelease) as error:
        raise _absent.AbsentName(f"paddle.static.{name} is not in this release: {error}") from None
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
