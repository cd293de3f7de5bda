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


def allowed(type: str, *, back: bool) -> dict[str, str]:
    gradient = registry.row(type).gradient
    found = gradient if back else registry.row(type).forward
    return {} if found is None else permissions(found)


def shared(slot: str, source: str) -> Runs:
    """Runs an operator, or its gradient if that writes ``slot``, with this output in the memory of the input
    ``source`` where the two are of one size."""

    def run(operator: Operator, values: dict[str, Value], run: Run) -> None:
        arrays = {name: value.copy() for name, value in values.items() if isinstance(value, np.ndarray)}
        before = {name: array.copy() for name, array in arrays.items()}
        values |= arrays
        places = _places(operator, arrays, slot, source)
        empty, made = single._empty, iter(registry.infer(operator, _forms(values)))
        with mock.patch.object(single, "_empty", lambda form: places.get(next(made), empty(form))):
            apart(operator, values, run)
        for name in places if slot not in registry.kernel(operator.type).in_place else ():
            (of,) = operator.inputs[source]  # a view: who else views it finds it as it was
            np.testing.assert_array_equal(arrays[of], before[of], f"{name} is no view of {of}")

    return run


def _forms(values: Mapping[str, Value]) -> dict[str, registry.Form]:
    return {name: single._form(value) for name, value in values.items()}


def _places(
    operator: Operator, given: Mapping[str, np.ndarray], slot: str, source: str
) -> dict[str, np.ndarray]:
    names, (of, *_) = operator.outputs.get(slot, ()), (*operator.inputs.get(source, ()), "")
    if len(names) != 1 or of not in given:
        return {}
    form = registry.infer(operator, _forms(given))[names[0]] if names[0] else None
    is_like = (
        form and form.rows is None and given[of].dtype == form.dtype and given[of].size == np.prod(form.shape)
    )
    return {names[0]: given[of].reshape(form.shape)} if is_like else {}


def _backs(case: Case, slots: dict[str, list[np.ndarray]]) -> tuple[dict[str, np.ndarray], list[str]]:
    call, random = Single(case.type, slots, case.attrs), np.random.default_rng(3)
    outputs = call.forward()
    of = [s for s in registry.gradient(case.type).of if slots.get(s) and slots[s][0].dtype.kind == "f"]
    return {n: random.normal(size=outputs[n].shape).astype(outputs[n].dtype) for n in call.given()}, of


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE + OTHERS if allowed(c.type, back=False)], ids=str)
def test_an_output_in_the_memory_of_an_input_is_the_same(case: Case, dtype: type) -> None:
    call = Single(case.type, case.slots(dtype), case.attrs)
    expected = call.forward()
    for slot, source in allowed(case.type, back=False).items():
        with mock.patch.object(Single, "_run", staticmethod(shared(slot, source))):
            found = call.forward()
        for name, wanted in expected.items():
            np.testing.assert_array_equal(found[name], wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", [c for c in DIFFERENTIABLE if allowed(c.type, back=True)], ids=str)
def test_a_gradient_in_the_memory_of_what_it_is_made_of_is_the_same(case: Case, dtype: type) -> None:
    slots = case.slots(dtype)
    given, of = _backs(case, slots)
    call = Single(case.type, slots, case.attrs)
    expected = call.gradient(given, of)
    for target, source in allowed(case.type, back=True).items():
        with mock.patch.object(Single, "_run", staticmethod(shared(target, source))):
            found = call.gradient(given, of)
        for slot in of:
            for one, other in zip(found[slot], expected[slot], strict=True):
                np.testing.assert_array_equal(one, other)
