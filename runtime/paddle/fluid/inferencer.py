"""Inferencer: computes a network with values that ``Trainer.save_params`` has written.

Guarantee: the values are read once; what is computed with them changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.guards import program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.files.variables import load_params
from paddle._program.running.executor import Executor
from paddle._program.running.scope import Scope, scope_guard

__all__ = ["Inferencer"]


class Inferencer:
    """``infer_func()`` builds the network and returns what is wanted of it; ``param_path``: the folder of
    its values. ``parallel`` changes nothing."""

    def __init__(
        self, infer_func: Callable[[], Any], param_path: str, place: Any = None, parallel: bool = False
    ) -> None:
        self.param_path, self.place, self.parallel, self.scope = param_path, place, parallel, Scope()
        self.inference_program, startup = Program(), Program()
        with unique_name.guard(), program_guard(self.inference_program, startup):
            given = infer_func()
        self.predict_var = list(given) if isinstance(given, list | tuple) else [given]
        if not all(isinstance(each, Variable) for each in self.predict_var):
            raise BadArgument(f"infer_func returns a variable, or several, not {given!r}")
        self.exe = Executor(place)
        with scope_guard(self.scope):
            load_params(self.exe, param_path, self.inference_program)
        self.inference_program = self.inference_program.clone(for_test=True)

    def infer(self, inputs: Mapping[str, Any], return_numpy: bool = True) -> list[Any]:
        """What the network makes of ``inputs``, tensors by the names of the data layers."""
        if not isinstance(inputs, Mapping):
            raise ValueError(
                f"inputs should be a map of {{'input_name': input_var}}, not {type(inputs).__name__}"
            )
        wanted = [each.name for each in self.predict_var]
        with scope_guard(self.scope):
            found: list[Any] = self.exe.run(
                self.inference_program, feed=inputs, fetch_list=wanted, return_numpy=return_numpy
            )
        return found
