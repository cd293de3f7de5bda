"""What is computed ahead of a run: how many rows there will be, where only values say so.

A plan is made for shapes. Pieces that are cut out of sequences have as many rows as the numbers that cut
them say, so operators that find these pieces (``Row.ahead``), and whatever they read, are run before the
plan is made, on what is fed; what they find is fed to the rest of the program. Of what an operator reads
for its sizes alone (``Row.sized``) only the sizes are followed, through operators that stay in the rest. Of
an operator of which only an output is needed that another one finds from fewer inputs (``Row.apart``), the
other one is run, and it stays in the rest.

It must never know a plan. Guarantee: the rest of a program reads of what was found ahead what it would read
of the program as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from paddle._engine import registry
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.program import Block, Form, Operator, Parameter, Program
from paddle._engine.registry import Call, Run

Array = np.ndarray


@dataclass(frozen=True, slots=True)
class Ahead:
    """``operators`` run ahead, or say sizes that these need, and ``rest`` is the program without those that
    run, to which ``found`` is fed."""

    operators: Sequence[Operator]
    rest: Program
    found: Sequence[str]

    def fed(self, feed: Mapping[str, Array]) -> dict[str, Array]:
        """What is fed to the rest."""
        variables, found = self.rest.main.variables, set(self.found)
        forms = {name: each.form for name, each in variables.items() if isinstance(each, Parameter)}
        values: dict[str, Array] = {}

        def know(more: Mapping[str, Array]) -> None:
            values.update(more)
            forms.update({name: Form(array.shape, array.dtype.name) for name, array in more.items()})

        know(feed)
        for operator in self.operators:
            if missing := [name for name in operator.reads() if name not in forms]:
                raise FeedError(f"the feed lacks {missing}, which is read ahead of the run by {operator}")
            if found.isdisjoint(operator.writes()):
                forms |= registry.infer(operator, forms)
            else:
                know(_computed(operator, _sized(operator, forms) or values))
        return {**feed, **{name: values[name] for name in self.found}}


def ahead_of(program: Program) -> Ahead | None:
    """What of a program is run ahead, if anything is."""
    operators = program.main.operators
    needed = {
        name
        for each in operators
        if each.role == "forward" and registry.row(each.type).ahead is not None
        for name in each.writes()
    }
    if not needed:
        return None
    early: list[Operator] = []
    traced: list[Operator] = []
    sizes: set[str] = set()
    apart: dict[int, Operator] = {}
    for operator in reversed(operators):
        if not needed.isdisjoint(operator.writes()):
            early.append(_apart(operator, needed))
            if early[-1] is not operator:
                apart[id(operator)] = early[-1]
            (sizes if _is_sized(operator) else needed).update(early[-1].reads())
        elif not sizes.isdisjoint(operator.writes()):
            traced.append(operator)
            sizes.update(operator.reads())
    variables = program.main.variables
    if learned := sorted(name for name in needed if isinstance(variables[name], Parameter)):
        more = f" and {len(learned) - 3} more" if len(learned) > 3 else ""
        raise ShapeError(
            f"where pieces of sequences are cut follows from the parameters {', '.join(learned[:3])}{more}: "
            "it has to follow from what is fed alone, for nothing can be planned before it is known"
        )
    gone, kept = {id(each) for each in early}, {id(each) for each in traced}
    first = [apart.get(id(each), each) for each in operators if id(each) in {*gone, *kept, *apart}]
    found = sorted({name for each in early for name in each.writes()})  # any of it may be fetched
    block = Block({**variables, **{name: replace(variables[name], is_data=True) for name in found}})
    for each in operators:
        if id(each) not in gone:
            block.operators.append(_again(each, found, block) if id(each) in apart else each)
    return Ahead(first, Program([block]), found)


def _apart(operator: Operator, needed: set[str]) -> Operator:
    """What finds ahead what is needed of an operator: it, or the one of ``Row.apart``."""
    slots = [slot for slot, names in operator.outputs.items() if not needed.isdisjoint(names)]
    other = registry.row(operator.type).apart.get(slots[0]) if len(slots) == 1 else None
    if other is None or operator.type.endswith("_grad"):
        return operator
    type, read = other
    inputs = {"X": tuple(name for slot in read for name in operator.inputs[slot])}
    return Operator(type, inputs, {"Out": operator.outputs[slots[0]]}, {}, operator.role)


def _again(operator: Operator, found: Sequence[str], block: Block) -> Operator:
    """The operator with a name of its own for what was found ahead, which nobody reads."""
    names = {name: f"{name}@AGAIN" for name in operator.writes() if name in found}
    for name, own in names.items():
        block.add(replace(block.variables[name], name=own, is_data=False))
    outputs = {slot: tuple(names.get(each, each) for each in of) for slot, of in operator.outputs.items()}
    return replace(operator, outputs=outputs)


def _is_sized(operator: Operator) -> bool:
    return registry.row(operator.type).sized(operator.attrs)


def _sized(operator: Operator, forms: Mapping[str, Form]) -> dict[str, Array] | None:
    """What an operator reads that looks at sizes alone: arrays of these, which hold nothing."""
    if not _is_sized(operator):
        return None
    read = ((name, forms[name]) for name in operator.reads())
    return {name: np.broadcast_to(np.zeros((), form.dtype), form.shape) for name, form in read}


def _computed(operator: Operator, values: Mapping[str, Array]) -> dict[str, Array]:
    slots = {slot: tuple(values[name] for name in names) for slot, names in operator.inputs.items()}
    row = registry.row(operator.type)
    if row.ahead is not None:
        made = row.ahead({slot: list(arrays) for slot, arrays in slots.items()}, operator.attrs)
        return {name: made[slot] for slot, (name,) in operator.outputs.items()}
    forms = {name: Form(values[name].shape, values[name].dtype.name) for name in operator.reads()}
    arrays = {
        name: np.empty(form.shape, form.dtype) for name, form in registry.infer(operator, forms).items()
    }
    outputs = {slot: tuple(arrays[name] for name in names) for slot, names in operator.outputs.items()}
    scratch = {
        key: np.empty(form.shape, form.dtype) for key, form in registry.scratch(operator, forms).items()
    }
    for step in registry.kernel(operator.type).bind(Call(operator, slots | outputs, Run(), scratch)):
        step()
    return arrays
