"""One operator by itself, on given arrays: what checks of an operator need, without a program.

Guarantee: no two variables share memory, so a kernel is seen without the plan's views and overwritten
inputs; forms are exactly those of the arrays given, so float64 works wherever the kernel does not care.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from paddle._engine import registry
from paddle._engine.program import EMPTY, GRAD, Form, Operator
from paddle._engine.registry import Call, Run, Value
from paddle._engine.rows import SparseRows

Arrays: TypeAlias = dict[str, list[np.ndarray]]


@dataclass(frozen=True, slots=True)
class Single:
    """One call of one operator. ``inputs``: arrays by slot."""

    type: str
    inputs: Mapping[str, Sequence[np.ndarray]]
    attrs: Mapping[str, Any]

    def forward(self) -> dict[str, np.ndarray]:
        """Compute the outputs, by slot; where a slot has several, Out0, Out1..."""
        operator, values = self._operator(), self._values()
        self._run(operator, values, Run())
        return {name: _dense(values[name]) for name in operator.writes()}

    def given(self) -> list[str]:
        """The outputs whose gradients the gradient reads."""
        gradient, outputs = registry.gradient(self.type), self._operator().outputs
        slots = (gradient.given, *gradient.also, *gradient.perhaps)
        return [name for slot in slots for name in outputs[slot]]

    def gradient(self, given: np.ndarray | Mapping[str, np.ndarray], wanted: Sequence[str]) -> Arrays:
        """The gradients of all arrays in the slots ``wanted``, from that of the output, or those of the
        outputs that ``given`` names; rows come dense."""
        operator, values, run = self._operator(), self._values(), Run()
        self._run(operator, values, run)
        gradient = registry.gradient(self.type)
        forward = {**operator.inputs, **operator.outputs}
        inputs = {slot: forward[slot] for slot in gradient.needs}
        for slot in (gradient.given, *gradient.also):
            inputs[slot + GRAD] = tuple(name + GRAD for name in operator.outputs[slot])
        outputs = {
            slot + GRAD: tuple(n + GRAD if slot in wanted else EMPTY for n in operator.inputs[slot])
            for slot in gradient.of
        }
        arrays = {gradient.given: given} if isinstance(given, np.ndarray) else given
        for slot in gradient.perhaps:
            inputs[slot + GRAD] = tuple(n + GRAD for n in operator.outputs[slot] if n in arrays)
        values |= {name + GRAD: array for name, array in arrays.items()}
        backward = Operator(self.type + "_grad", inputs, outputs, operator.attrs, "backward")
        self._run(backward, values, run)
        return {slot: [_dense(values[n + GRAD]) for n in operator.inputs[slot]] for slot in wanted}

    def _operator(self) -> Operator:
        row = registry.row(self.type)
        names = {slot: [f"{slot}{i}" for i in range(len(given))] for slot, given in self.inputs.items()}
        slots, attrs = row.slots(names), row.attributes(self.attrs)
        forms = {slot: tuple(map(_form, self.inputs.get(slot, ()))) for slot in slots}
        made = row.shape(registry.Forms(forms, attrs))
        outputs = {
            slot.rstrip("*"): (slot,)
            if isinstance(form := made[slot.rstrip("*")], Form)
            else tuple(f"{slot[:-1]}{i}" for i in range(len(form)))
            for slot in row.outputs
        }
        return Operator(self.type, slots, outputs, attrs)

    def _values(self) -> dict[str, Value]:
        return {f"{slot}{i}": each for slot, given in self.inputs.items() for i, each in enumerate(given)}

    @staticmethod
    def _run(operator: Operator, values: dict[str, Value], run: Run) -> None:
        made = registry.infer(operator, {name: _form(value) for name, value in values.items()})
        values |= {name: _empty(form) for name, form in made.items()}
        sides = (*operator.inputs.items(), *operator.outputs.items())
        slots = {slot: tuple(values.get(name) for name in names) for slot, names in sides}
        forms = {name: _form(value) for name, value in values.items()}
        scratch = {key: _filled(form) for key, form in registry.scratch(operator, forms).items()}
        for step in registry.kernel(operator.type).bind(Call(operator, slots, run, scratch)):
            step()


def _form(value: Value) -> Form:
    if isinstance(value, SparseRows):
        return Form((value.height, value.width), value.values.dtype.name, len(value.ids))
    return Form(value.shape, value.dtype.name)


def _empty(form: Form) -> Value:
    """Filled with what a forgetful kernel would be found out by."""
    if form.rows is None:
        return _filled(form)
    values = np.full((form.rows, form.shape[1]), -77, form.dtype)
    return SparseRows(np.zeros(form.rows, np.int64), values, form.shape[0])


def _filled(form: Form) -> np.ndarray:
    return np.full(form.shape, -77, form.dtype)


def _dense(value: Value) -> np.ndarray:
    return value.to_dense() if isinstance(value, SparseRows) else value
