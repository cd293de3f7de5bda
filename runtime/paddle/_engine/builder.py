"""The builder: the one way in which faces write programs.

It must never know a face's words (layers, attributes objects) nor run anything. Guarantee: what it has
appended has passed the operator's shape rule, so a program that was built can be planned for every feed
of the declared shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from paddle._engine import registry
from paddle._engine.errors import EngineError, ShapeError
from paddle._engine.exchange import ParameterSpec, RowsSpec
from paddle._engine.program import Operator, Parameter, Program, Shape, Variable

Inputs = Variable | Sequence[Variable]


class Builder:
    """Appends data, parameters and operators to the main block of ``program``, a new one by default."""

    def __init__(self, program: Program | None = None):
        self.program = Program() if program is None else program

    def data(self, name: str, shape: Sequence[int], dtype: str = "float32") -> Variable:
        """A variable that every run is fed. ``shape`` includes the batch as a leading -1."""
        if dtype not in ("float32", "int64"):
            raise ShapeError(f"data {name!r}: dtype {dtype!r} is none of float32, int64")
        return self.program.main.add(Variable(name, tuple(shape), dtype, is_data=True))

    def parameter(
        self,
        name: str,
        shape: Sequence[int],
        initializer: Callable[[Shape, np.random.Generator], np.ndarray],
        *,
        is_static: bool = False,
        sparse: bool = False,
        rows: RowsSpec | None = None,
        learning_rate: float = 1.0,
        momentum: float | None = None,
        l1_rate: float | None = None,
        l2_rate: float | None = None,
        gradient_clipping_threshold: float | None = None,
    ) -> Parameter:
        """A parameter. The same name again is the same parameter, as first declared; shapes must agree.

        With ``rows`` it is an open table, of shape ``[OPEN, width]``, and ``initializer`` is not asked.
        """
        shape = tuple(shape)
        known = self.program.main.variables.get(name)
        if known is None:
            spec = ParameterSpec(
                name=name,
                shape=shape,
                sparse=sparse,
                rows=rows,
                learning_rate=learning_rate,
                momentum=momentum,
                l1_rate=l1_rate,
                l2_rate=l2_rate,
                gradient_clipping_threshold=gradient_clipping_threshold,
            )
            made = Parameter(name, shape, initializer=initializer, spec=spec, is_static=is_static)
            self.program.main.add(made)
            return made
        if not isinstance(known, Parameter):
            raise EngineError(
                f"{name!r} is data or an operator's output already: choose another parameter name"
            )
        if known.shape != shape:
            raise ShapeError(f"parameter {name!r} has shape {known.shape}, another use of it wants {shape}")
        return known

    def op(self, type: str, /, attrs: Mapping[str, Any] | None = None, **inputs: Inputs) -> Variable:
        """Append an operator and return its first output."""
        return next(iter(self.ops(type, attrs, **inputs).values()))

    def ops(
        self, type: str, /, attrs: Mapping[str, Any] | None = None, **inputs: Inputs
    ) -> dict[str, Variable]:
        """Append an operator and return its outputs by slot."""
        return {slot: one for slot, (one,) in self.append(type, attrs, inputs).items()}

    def several(
        self, type: str, /, count: int, attrs: Mapping[str, Any] | None = None, **inputs: Inputs
    ) -> tuple[Variable, ...]:
        """Append an operator whose one output slot takes ``count`` variables, and return these."""
        return next(iter(self.append(type, attrs, inputs, count).values()))

    def append(
        self, type: str, attrs: Mapping[str, Any] | None, inputs: Mapping[str, Inputs], count: int = 1
    ) -> dict[str, tuple[Variable, ...]]:
        """Append an operator and return its outputs by slot; ``count``: of those in a slot for several."""
        block, row = self.program.main, registry.row(type)
        slots = {slot: self._names(variables) for slot, variables in inputs.items()}
        outputs = {
            slot.rstrip("*"): tuple(_names(f"{type}_{len(block.operators)}.{slot.lower()}", count))
            for slot in row.outputs
        }
        operator = Operator(type, row.slots(slots), outputs, row.attributes(attrs or {}))
        forms = registry.infer(operator, {name: block.variables[name].form for name in operator.reads()})
        made = {
            slot: tuple(block.add(Variable.of(name, forms[name])) for name in names)
            for slot, names in outputs.items()
        }
        block.append(operator)
        return made

    def _names(self, inputs: Inputs) -> list[str]:
        """The names of variables, all of which must be this program's."""
        variables = (inputs,) if isinstance(inputs, Variable) else inputs
        for variable in variables:
            if self.program.main.variables.get(variable.name) != variable:
                raise EngineError(
                    f"variable {variable.name!r} belongs to another program than this builder's"
                )
        return [variable.name for variable in variables]


def _names(slot: str, count: int) -> list[str]:
    """The names of the variables in an output slot."""
    return [f"{slot[:-1]}{i}" for i in range(count)] if slot.endswith("*") else [slot]
