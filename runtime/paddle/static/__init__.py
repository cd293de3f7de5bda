"""Static programs of the 2.x generation: ``paddle.static``. A name is looked up when it is first used.

It must never hold code of its own. Guarantee: each name is the very object of the module that it stands for;
what did not change since fluid is fluid's.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle import _absent
from paddle._loading import undisturbed
from paddle._public_names import missing

_HOMES = {
    "_program.writing.backward": "append_backward gradients",
    "_program.running.executor": "Executor",
    "_program.running.places": "cpu_places cuda_places",
    "_program.description.guards": "default_main_program default_startup_program name_scope program_guard",
    "_program.description.program": "Program",
    "_program.running.scope": "Scope global_scope scope_guard",
    "_program.description.variable": "Variable",
    "tensor.creation": "create_global_var create_parameter",
    "static.feeds": "InputSpec data",
    "static.item": "setitem",
    "static.place": "device_guard",
    "static.model": """
        deserialize_persistables deserialize_program load_from_file load_inference_model normalize_program
        save_inference_model save_to_file serialize_persistables serialize_program
        """,
    "fluid": ("BuildStrategy CompiledProgram ExecutionStrategy ParallelExecutor WeightNormParamAttr"),
    "fluid.layers": "Print py_func",
    "static.measures": "accuracy auc",
    "fluid.contrib.layers": "ctr_metric_bundle",
    "fluid.io": "load load_program_state load_vars save save_vars set_program_state",
    "fluid.optimizer": "ExponentialMovingAverage",
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names.split()}
_MODULES = frozenset({"amp", "nn"})

__all__ = [*sorted(_MODULES), *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    with undisturbed():
        return _look_up(name)


def _look_up(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"paddle.static.{name}")
    if name == "io":  # where the original keeps what it saves and loads by
        return import_module("paddle.fluid.io")
    if name not in _WHERE:
        raise missing(__name__, name)
    try:
        value = globals()[name] = getattr(import_module(f"paddle.{_WHERE[name]}"), name)
    except (ImportError, _absent.NotInThisRelease) as error:
        raise _absent.AbsentName(f"paddle.static.{name} is not in this release: {error}") from None
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
