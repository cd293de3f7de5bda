"""The program: operators, in order, over named variables. What a face writes and an executor runs.

It must never know what an operator computes (that is the registry) nor hold a value of a variable (that
is the scope).

Guarantees: a variable is written by at most one operator, which comes before all its readers; operators
and variables are frozen and only ever appended, so the number of operators tells one state of a program
from another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from paddle._engine.errors import EngineError, FeedError
from paddle._engine.exchange import ParameterSpec

Shape: TypeAlias = tuple[int, ...]
Slots: TypeAlias = Mapping[str, tuple[str, ...]]
Role: TypeAlias = Literal["forward", "backward", "exchange"]
Kind: TypeAlias = Literal["dense", "rows"]

GRAD = "@GRAD"
"""What is appended to a variable's name to name its gradient."""

EMPTY = ""
"""Stands in an output slot for a variable that nobody wants."""


NAMES_SHOWN = 4
"""Of a slot that holds more variables than these and one, an operator's text names only the first."""


@dataclass(frozen=True, slots=True)
class Form:
    """Shape and dtype of a variable; -1 stands for a size that only a feed decides.

    ``rows`` is None for a dense array. For SparseRows it is the number of rows listed, and ``shape`` is
    the table's.
    """

    shape: Shape
    dtype: str = "float32"
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A named place for an array or, of kind "rows", for SparseRows. ``is_data``: a feed fills it."""

    name: str
    shape: Shape
    dtype: str = "float32"
    kind: Kind = "dense"
    is_data: bool = False

    @classmethod
    def of(cls, name: str, form: Form) -> Variable:
        """A variable of the given form."""
        return Variable(name, form.shape, form.dtype, "dense" if form.rows is None else "rows")

    @property
    def form(self) -> Form:
        """Its shape and dtype, as the shape rules of operators take them."""
        return Form(self.shape, self.dtype, None if self.kind == "dense" else -1)

    def __str__(self) -> str:
        return f"{self.name} : {self.dtype}{list(self.shape)}{' rows' if self.kind == 'rows' else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter(Variable):
    """A float32 variable that outlives a step, trained unless ``is_static``.

    ``initializer`` makes its first value from a shape and a random generator; ``spec`` is what its keeper
    must know. Where ``spec.sparse``, its gradient is SparseRows.
    """

    initializer: Callable[[Shape, np.random.Generator], np.ndarray]
    spec: ParameterSpec
    is_static: bool = False

    def __str__(self) -> str:
        traits = [trait for trait, has in (("static", self.is_static), ("sparse", self.spec.sparse)) if has]
        return " ".join(["parameter", Variable.__str__(self), *traits])


@dataclass(frozen=True, slots=True)
class Operator:
    """One call of an operator: its type, the variables in its input and output slots, and its attributes."""

    type: str
    inputs: Slots
    outputs: Slots
    attrs: Mapping[str, Any] = field(default_factory=dict)
    role: Role = "forward"

    def reads(self) -> Iterator[str]:
        """Names of all variables that it reads."""
        for names in self.inputs.values():
            yield from names

    def writes(self) -> Iterator[str]:
        """Names of all variables that it writes."""
        for names in self.outputs.values():
            yield from filter(None, names)

    def __str__(self) -> str:
        read = ", ".join(f"{slot}={_listed(names, '+')}" for slot, names in self.inputs.items() if names)
        attrs = ", ".join(f"{name}={value!r}" for name, value in self.attrs.items() if value is not None)
        written = _listed(tuple(self.writes()), ", ") or "-"
        return f"{written} = {self.type}({read})" + (f" [{attrs}]" if attrs else "")


def _listed(names: Sequence[str], separator: str) -> str:
    """The names, or where they are many the first ones and how many there are: errors quote operators."""
    if len(names) <= NAMES_SHOWN + 1:
        return separator.join(names)
    return separator.join((*names[:NAMES_SHOWN], f"... ({len(names)} in all)"))


@dataclass(slots=True)
class Block:
    """A list of operators and the variables they speak of."""

    variables: dict[str, Variable] = field(default_factory=dict)
    operators: list[Operator] = field(default_factory=list)

    def add(self, variable: Variable) -> Variable:
        """Declare a variable; its name must be new."""
        if variable.name in self.variables:
            raise EngineError(f"the program has a variable {variable.name!r} already: choose another name")
        self.variables[variable.name] = variable
        return variable

    def append(self, operator: Operator) -> None:
        """Append an operator, all of whose variables are declared."""
        for name in (*operator.reads(), *operator.writes()):
            if name not in self.variables:
                raise EngineError(
                    f"operator {operator.type!r} names {name!r}, which the program does not declare"
                )
        self.operators.append(operator)


@dataclass(slots=True, eq=False, weakref_slot=True)
class Program:
    """Blocks of operators; the first one, ``main``, is where a run starts. Equal only to itself."""

    blocks: list[Block] = field(default_factory=lambda: [Block()])

    @property
    def main(self) -> Block:
        """The global block."""
        return self.blocks[0]

    def parameters(self) -> list[Parameter]:
        """Its parameters, in order of declaration."""
        return [variable for variable in self.main.variables.values() if isinstance(variable, Parameter)]

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        try:
            return self.main.variables[name]
        except KeyError:
            raise FeedError(
                f"the program has no variable {name!r}; it has {sorted(self.main.variables)}"
            ) from None

    def clone(self, for_test: bool = False) -> Program:
        """A copy that later changes of this program do not touch.

        ``for_test``: only forward operators are kept, and those that behave otherwise in a test (attribute
        ``is_test``, such as dropout's) are switched over. Parameters keep their names, so both share a scope.
        """
        if not for_test:
            return Program([Block(dict(block.variables), list(block.operators)) for block in self.blocks])
        return Program([_for_test(block) for block in self.blocks])

    def __str__(self) -> str:
        return "\n".join(line for block in self.blocks for line in _lines(block))


def _for_test(block: Block) -> Block:
    operators = [
        replace(operator, attrs={**operator.attrs, "is_test": True})
        if "is_test" in operator.attrs
        else operator
        for operator in block.operators
        if operator.role == "forward"
    ]
    written = {
        name for operator in block.operators if operator.role != "forward" for name in operator.writes()
    }
    return Block({name: v for name, v in block.variables.items() if name not in written}, operators)


def _lines(block: Block) -> Iterator[str]:
    written = {name for operator in block.operators for name in operator.writes()}
    yield "{"
    for variable in block.variables.values():
        if variable.name not in written:
            yield f"    {'data ' if variable.is_data else ''}{variable}"
    for operator in block.operators:
        yield f"    {operator}"
    yield "}"
