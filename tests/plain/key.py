"""What two plans have in common that compute the same, whatever their variables are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from paddle._engine.passes.setting import Setting
from paddle._engine.plan import Plan
from paddle._engine.program import Parameter, Program, Shape


def key_of(
    program: Program,
    shapes: Mapping[str, Shape],
    fetch: Sequence[str],
    plan: Plan,
    part: tuple[int, ...] = (),
) -> str:
    """Equal where the same operators in the same sizes became the same, and the same of them is wanted.
    ``part``: of a batch, where what that gives is known of all parts together."""
    numbers: dict[str, int] = {}
    text = sha256(repr((part, [operator.type for _, operator in plan.steps])).encode())
    for said in _said(program, shapes, fetch, plan.setting, numbers):
        text.update(repr(said).encode())
    return text.hexdigest()


def _said(
    program: Program,
    shapes: Mapping[str, Shape],
    fetch: Sequence[str],
    setting: Setting,
    numbers: dict[str, int],
) -> Iterator[Any]:
    def number(name: str) -> int:
        return numbers.setdefault(name, len(numbers))

    for operator in program.main.operators:
        yield operator.type, operator.role, {k: str(v) for k, v in operator.attrs.items()}
        for slots in (operator.inputs, operator.outputs):
            yield [(slot, [number(name) for name in names]) for slot, names in slots.items()]
    yield [number(name) for name in fetch]
    for name in list(numbers):
        variable = program.main.variables.get(name)
        if isinstance(variable, Parameter):
            how = variable.shape, variable.spec.sparse, variable.is_static
            yield number(name), how, setting.lent.get(name), setting.joint.get(name, "apart")
        elif name in shapes:
            yield number(name), shapes[name], getattr(variable, "dtype", None)
