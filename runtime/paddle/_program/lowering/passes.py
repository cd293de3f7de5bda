"""Passes: the gradient operators of a block, parted by the calls that wrote them.

A pass begins with what says the gradients of its targets, and goes back from there. It must never know how a
gradient is computed.

Guarantee: the gradients of one call are never added to those of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.description.variable import of_gradient
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import GRADIENT_OF, is_lowered
from paddle._program.lowering.updates import is_update

SEEDS = ("fill_constant", "assign")
"""Types of the operators that say what the gradient of a target is: a number, or another variable."""


@dataclass(frozen=True, slots=True)
class Pass:
    """The gradient operators of one call, ``seeds`` first."""

    ops: tuple[Operator, ...]

    @property
    def seeds(self) -> dict[str, Operator]:
        """By the names of targets, what says their gradients."""
        found = {of_gradient(op.output_arg_names[0]): op for op in self.ops if op.type in SEEDS}
        return {name: op for name, op in found.items() if name is not None}

    @property
    def gradients(self) -> dict[str, str]:
        """The names of the gradients that it writes, and of what they are."""
        written = {name: of_gradient(name) for op in self.ops for name in op.output_arg_names}
        return {name: base for name, base in written.items() if base is not None}

    @property
    def bases(self) -> set[str]:
        """What it takes gradients of."""
        return set(self.gradients.values())

    @property
    def stopped(self) -> set[str]:
        """What operators between the targets and what is wanted read that has no gradient in this pass."""
        gradients = [op for op in self.ops if op.type not in (*SEEDS, "sum")]
        known: set[str | None] = {
            of_gradient(name.partition("@RENAME")[0]) for op in self.ops for name in op.output_arg_names
        }
        known |= _written_between(gradients)
        return {name for op in gradients for name in op.input_arg_names if name not in known}


def _written_between(gradients: Sequence[Operator]) -> set[str]:
    """What the operators give whose gradients these are."""
    if not gradients:
        return set()
    known = {
        (op.type + GRADIENT_OF, name): op for op in gradients[0].block.ops for name in op.output_arg_names
    }
    found: set[str] = set()
    for gradient in gradients:
        for name in gradient.input_arg_names:
            op = known.get((gradient.type, name))
            if op is not None and all(gradient.inputs.get(slot) == n for slot, n in op.outputs.items()):
                found.update(op.output_arg_names)
    return found


def passes(ops: Iterable[Operator]) -> Iterator[Pass]:
    """The passes among operators in order: one begins at a target that comes after anything else."""
    own: list[Operator] = []
    for op in ops:
        is_gradient = op.role == BACKWARD
        begins = is_gradient and op.type in SEEDS and bool(own) and own[-1].type not in SEEDS
        if own and (begins or not is_gradient):
            yield Pass(tuple(own))
            own = []
        if is_gradient:
            own.append(op)
    if own:
        yield Pass(tuple(own))


def taken_again(ops: Sequence[Operator]) -> set[int]:
    """The ids of the operators of passes that gradients are taken of."""
    found = list(passes(ops))
    bases = [each.bases for each in found]
    again = (
        each
        for at, each in enumerate(found)
        if any(not own.isdisjoint(each.gradients) for own in bases[at + 1 :])
    )
    return {id(op) for each in again for op in each.ops}


def through_host(ops: Sequence[Operator]) -> dict[int, Pass]:
    """By the ids of its operators, each pass that must go back along what a run has done: through operators
    of the host, or over names that they, and the engine's operators too, have written."""
    places = {id(op): at for at, op in enumerate(ops)}
    found = [each for each in passes(ops) if _goes_through_host(each, ops[: places[id(each.ops[0])]])]
    _check_once(ops, found)
    return {id(op): each for each in found for op in each.ops}


def _check_once(ops: Sequence[Operator], taped: Sequence[Pass]) -> None:
    """Raise where gradients of gradients would go through the host."""
    made = {name for each in passes(ops) for name in each.gradients}
    again = taken_again(ops) if taped else set()
    for each in taped:
        if id(each.ops[0]) in again or not each.bases.isdisjoint(made):
            raise BadProgram(
                f"gradients are taken (at {each.ops[0].where}) of gradients, and these go through what is "
                "computed on the host, such as a loop: this is not in this release"
            )


def _goes_through_host(given: Pass, before: Sequence[Operator]) -> bool:
    if any(not is_lowered(op) for op in given.ops if op.type not in (*SEEDS, "sum")):
        return True
    lowered: set[str] = set()
    hosts: set[str] = set()
    for op in before:
        if op.role != BACKWARD and not is_update(op):
            (lowered if is_lowered(op) else hosts).update(op.output_arg_names)
    read = {name for op in given.ops for name in op.input_arg_names}
    return not read.isdisjoint(lowered & hosts)
