"""What a kernel lets a plan do with memory: where an output may be an input's, the numbers are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from unittest import mock

import numpy as np
import pytest

from paddle._engine import registry, single
from paddle._engine.program import Operator
from paddle._engine.registry import Kernel, Run, Value
from paddle._engine.single import Single

from ..passes.case import Case
from ..test_operators import DIFFERENTIABLE, OTHERS

DTYPES = [np.float32, np.float64]
Runs = Callable[[Operator, dict[str, Value], Run], None]
apart = Single._run


def permissions(kernel: Kernel) -> dict[str, str]:
    """Output slots, and the input that each may lie in: see ``registry.Kernel``, also about rows."""
    return {**kernel.in_place, **kernel.views, **kernel.reshapes}


def allows(type: str, *, back: bool) -> bool:
    gradient = registry.row(type).gradient
    found = gradient if back else registry.row(type).forward
    return found is not None and bool(permissions(found))


def shared(backward: bool) -> Runs:
    """Runs an operator, or its gradient, with every output in the memory that its kernel allows it, of those
    that are of one form; of several that may lie in one input the first does."""

    def run(operator: Operator, values: dict[str, Value], run: Run) -> None:
        arrays = {name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)}
        values |= arrays
        is_meant = operator.type.endswith("_grad") == backward
        places = _places(operator, arrays) if is_meant else {}
        empty, made = single._empty, iter(registry.infer(operator, _forms(values)))
        with mock.patch.object(single, "_empty", lambda form: places.get(next(made), empty(form))):
            apart(operator, values, run)

    return run


def _forms(values: Mapping[str, Value]) -> dict[str, registry.Form]:
    return {name: single._form(value) for name, value in values.items()}


def _places(operator: Operator, given: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    forms, places, taken = _forms(given), dict[str, np.ndarray](), set[str]()
    made = registry.infer(operator, forms)
    for slot, source in permissions(registry.kernel(operator.type)).items():
        names = operator.outputs.get(slot, ())
        if len(names) != 1 or names[0] not in made or not operator.inputs.get(source):
            continue
        (of, *_), form = operator.inputs[source], made[names[0]]
        if of not in taken and forms[of].dtype == form.dtype and given[of].size == np.prod(form.shape):
            places[names[0]] = given[of].reshape(form.shape)
            taken.add(of)
    return places


def _backs(case: Case, slots: dict[str, list[np.ndarray]]) -> tuple[dict[str, np.ndarray], list[str]]:
    call, random = Single(case.type, slots, case.attrs), np.random.default_rng(3)
    outputs = call.forward()
    of = [s for s in registry.gradient(case.type).of if slots.get(s) and slots[s][0].dtype.kind == "f"]
    return {n: random.normal(size=outputs[n].shape).astype(outputs[n].dtype) for n in call.given()}, of


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE + OTHERS if allows(c.type, back=False)], ids=str)
def test_an_output_in_the_memory_of_an_input_is_the_same(case: Case, dtype: type) -> None:
    call = Single(case.type, case.slots(dtype), case.attrs)
    expected = call.forward()
    with mock.patch.object(Single, "_run", staticmethod(shared(backward=False))):
        found = call.forward()
    for name, wanted in expected.items():
        np.testing.assert_array_equal(found[name], wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE if allows(c.type, back=True)], ids=str)
def test_a_gradient_in_the_memory_of_what_it_is_made_of_is_the_same(case: Case, dtype: type) -> None:
    slots = case.slots(dtype)
    given, of = _backs(case, slots)
    call = Single(case.type, slots, case.attrs)
    expected = call.gradient(given, of)
    with mock.patch.object(Single, "_run", staticmethod(shared(backward=True))):
        found = call.gradient(given, of)
    for slot in of:
        for one, other in zip(found[slot], expected[slot], strict=True):
            np.testing.assert_array_equal(one, other)
