"""Lowering: a straight run of described operators becomes one program of the engine.

A description may write a name several times, the engine's variables are written once: ``env`` says which
engine variable a name stands for at this point. It must never run anything.

Guarantee: one description, fed and asked for the same names, always gives the same engine program.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from paddle._engine.builder import Builder
from paddle._engine.errors import EngineError
from paddle._engine.exchange import ParameterSpec, RowsSpec
from paddle._engine.program import Parameter as EngineParameter
from paddle._engine.program import Shape
from paddle._engine.program import Variable as EngineVariable
from paddle._engine.rows import COUNTS, OPEN
from paddle._program.description.block import Block
from paddle._program.description.counted_tables import counted_tables
from paddle._program.description.dtypes import VarType, dtype_of, engine_dtype, is_float
from paddle._program.description.open_tables import LOOKUPS, open_tables
from paddle._program.description.operator import BACKWARD, Operator
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadProgram, kind_of
from paddle._program.lowering.flat_slots import is_flat
from paddle._program.lowering.gradients import FLAT, lower_gradients
from paddle._program.lowering.op_rows import row
from paddle._program.lowering.passes import passes, taken_again, through_host
from paddle._program.lowering.updates import UPDATES
from paddle._program.lowering.value import BARE, LOD, Given, Lowered, Need, Value


class Lowering:
    """Lowers operators of ``block`` one by one. ``fed``: names that a feed gives, whatever they are else.
    ``wanted``: names whose values are asked for at the end, gradients among them. ``sizes``: shapes of what
    comes from outside, where they are not what is declared; ``told``: values, of those that may be sizes."""

    def __init__(
        self,
        block: Block,
        fed: Collection[str] = (),
        wanted: Collection[str] = (),
        infers: bool = False,
        sizes: Mapping[str, Shape] | None = None,
        told: Mapping[str, tuple[int, ...]] | None = None,
    ) -> None:
        self.block = block
        self.builder = Builder()
        self.env: dict[str, Value] = {}
        self.needs: dict[str, Need] = {}
        self.stopped: set[str] = set()
        self.halted: dict[str, str] = {}
        """Engine variables through which no gradient goes, as descriptions say now, and their names there."""
        self.updates: list[Operator] = []
        self.wanted = frozenset(wanted)
        self.is_test = block.program._is_test
        self.infers = infers
        self.again = False
        """Whether what is lowered has been run already, and must not change anything for a second time."""
        self._fed, self._sizes = frozenset(fed), sizes or {}
        self.told = told or {}
        self._around: Callable[[str], Value] | None = None
        self._owners: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._sparse: frozenset[str] | None = None
        self._open: frozenset[str] = frozenset()
        self.counted: frozenset[str] = frozenset()
        """Tables whose rows have counts before what the program has of them (counted_tables.py)."""
        self.counts: dict[tuple[str, ...], EngineVariable] = {}
        """What says shows and clicks, by what they are told by."""
        self._calls = 0
        self._come: dict[str, Value] = {}
        self._copies: dict[str, EngineVariable] = {}
        self.given: dict[str, Given] = {}

    # What rows use.

    def has(self, op: Operator, slot: str) -> bool:
        """Whether anything is in a slot, of inputs or outputs."""
        return bool(op.inputs.get(slot) or op.outputs.get(slot))

    def input(self, op: Operator, slot: str) -> Value:
        """What the one variable in an input slot stands for."""
        names = op.inputs.get(slot)
        if not names:
            raise BadProgram(f"operator {op.type!r} needs an input in slot {slot!r}{_at(op)}")
        return self._read(op, slot, names[0])

    def inputs(self, op: Operator, slot: str) -> list[Value]:
        """What the variables in an input slot stand for."""
        return [self._read(op, slot, name) for name in op.inputs.get(slot, ())]

    def op(self, type: str, /, attrs: dict[str, Any] | None = None, **inputs: Any) -> EngineVariable:
        """Append an engine operator and return its first output."""
        return self.builder.op(type, attrs, **inputs)

    def described(self, op: Operator, slot: str) -> Variable:
        """The description of the variable in a slot."""
        return self.block._var_recursive((op.inputs.get(slot) or op.outputs[slot])[0])

    def give(
        self,
        op: Operator,
        slot: str,
        variable: EngineVariable,
        runs: Sequence[EngineVariable] | None = None,
        dtype: Any = None,
        index: int = 0,
    ) -> None:
        """Say what the variable in an output slot, the one of that ``index``, stands for from now on.

        ``runs``: its sequences; by default those of the first input, where it has as many rows. ``dtype``:
        what it is declared as, where that is not what the engine computes in. An empty slot is passed over.
        """
        names = op.outputs.get(slot, ())
        if index >= len(names):
            return
        name = names[index]
        described = self.block._find_var_recursive(name)
        if dtype is not None and engine_dtype(dtype_of(dtype)) != variable.dtype:
            variable = self.builder.op("cast", {"dtype": engine_dtype(dtype_of(dtype))}, X=variable)
        variable = self._own(name, variable, described)
        found = self._runs_of_first(op, variable) if runs is None else tuple(runs)
        self.env[name] = Value(variable, found)
        if not self.infers:
            self.note(op, name, variable)
        if described is not None and described.stop_gradient and not isinstance(described, Parameter):
            self.halted[variable.name] = name
        if self.infers and described is not None:
            _describe(described, variable, len(found), dtype)

    def note(self, op: Operator, name: str, variable: EngineVariable) -> None:
        """Remember that an operator gave a variable, what it stands for."""
        self.given.setdefault(variable.name, Given(op.type, op.where, name))

    def value(self, name: str) -> Value:
        """What a name stands for; one that nothing here has written comes from outside."""
        if name not in self.env:
            self.env[name] = self._outside(name)
        return self.env[name]

    def parameter(self, op: Operator, slot: str) -> EngineParameter:
        """The parameter in a slot, whose array operators read, or change, where it lies."""
        found = self.input(op, slot).variable
        if not isinstance(found, EngineParameter):
            raise BadProgram(
                f"operator {op.type!r} needs a parameter in slot {slot!r}, and {op.input(slot)[0]!r} is "
                f"computed{_at(op)}"
            )
        return found

    def state(self, op: Operator, slot: str) -> EngineVariable:
        """What outlives a run in a slot, of any dtype, whose array an operator changes where it lies."""
        (name,) = op.input(slot)
        described = self.block._var_recursive(name)
        if name not in self.env and described.persistable and name not in self._fed:
            kind, shape = engine_dtype(described.dtype), tuple(described.shape)
            spec = ParameterSpec(name=name, shape=shape)
            made = EngineParameter(name, shape, kind, initializer=_never_drawn, spec=spec, is_static=True)
            self.env[name] = Value(self.builder.program.main.add(made))
        found = self.value(name).variable
        if not isinstance(found, EngineParameter):
            raise BadProgram(f"operator {op.type!r} changes {name!r}, which has to be persistable{_at(op)}")
        return found

    def stopped_in(self, bases: Collection[str]) -> set[str]:
        """What no gradient goes through. ``bases``: what a pass has gradients of, whatever has been said of
        it since that was written."""
        return self.stopped | {each for each, name in self.halted.items() if name not in bases}

    # What runs it.

    def lower(
        self,
        ops: Sequence[Operator],
        noted: Mapping[int, Mapping[str, str]] | None = None,
        replaced: Mapping[int, Collection[str]] | None = None,
    ) -> None:
        """Lower operators in order; a pass of gradient operators becomes one walk of the engine's. ``noted``:
        by the id of an operator, the names under which it, and those behind it, find states (states.py).
        ``replaced``: likewise what others have written over, so that it comes from outside."""
        begins, again = {id(each.ops[0]): each for each in passes(ops)}, taken_again(ops)
        for op in ops:
            for name in (replaced or {}).get(id(op), ()):
                self.env[name] = self._outside(name)
            for name, found in (noted or {}).get(id(op), {}).items():
                self.env[name] = self._noted(name, found)
            if op.role != BACKWARD:
                self.lower_one(op)
            elif id(op) in begins:
                lower_gradients(self, begins[id(op)], self._calls, id(op) in again)
                self._calls += 1

    def lower_one(self, op: Operator) -> None:
        """Lower one operator that is no gradient."""

        if op.type in UPDATES:
            self.updates.append(op)
            return
        rule = row(op.type).lower
        if rule is None:
            raise BadProgram(f"operator {op.type!r} is computed on the host, and cannot stand here{_at(op)}")
        operators = self.builder.program.main.operators
        before = len(operators)
        try:
            rule(self, op)
        except EngineError as error:
            raise kind_of(error)(f"{_said(op)}: {error}") from error
        if not self.infers:
            said = _said(op)
            for made in operators[before:]:
                if made.type in FLAT:
                    self.stopped.update(made.writes())
                self._lines.update(dict.fromkeys(made.writes(), said))
                for name in made.reads():
                    self._lines.setdefault(name, said)

    def finish(self, names: Iterable[str]) -> Lowered:
        """What was lowered, and what the names asked for stand for."""
        fetches = {name: self.value(name) for name in names}
        reads = [parameter.name for parameter in self.builder.program.parameters()]
        return Lowered(
            self.builder.program, self.needs, fetches, reads, self.updates, self._lines, self.given
        )

    def inside(self, block: Block, builder: Builder, around: Callable[[str], Value]) -> Lowering:
        """What lowers operators of a block within into another builder; ``around`` gives what they read that
        is neither theirs nor a parameter."""
        inner = Lowering(block)
        inner.builder, inner.wanted, inner.is_test = builder, self.wanted, self.is_test
        inner._sparse, inner._open, inner._around = self._sparse, self._open, around
        inner.counted = self.counted
        return inner

    def here(self, block: Block) -> None:
        """Lower the operators of a block within, where this one is."""
        before, self.block = self.block, block
        infers, self.infers = self.infers, False
        self.lower(block.ops)
        self.block, self.infers = before, infers

    def _read(self, op: Operator, slot: str, name: str) -> Value:
        """What a name stands for in a slot; where no gradient goes back to that, a value of its own."""
        found = self.value(name)
        if self.infers or found.variable.dtype != "float32" or not is_flat(op, slot):
            return found
        return replace(found, variable=self._apart(found.variable))

    def _apart(self, variable: EngineVariable) -> EngineVariable:
        """The same value, through which no gradient goes."""
        if variable.name in self.stopped or variable.name in self.halted:
            return variable
        copied = self._copies.get(variable.name)
        if copied is None:
            copied = self._copies[variable.name] = self.op("clip_error", {"min": 0.0, "max": 0.0}, X=variable)
            self.stopped.add(copied.name)
        return copied

    def _outside(self, name: str) -> Value:
        known = self._come.get(name)
        if known is None:
            known = self._come[name] = self._from_outside(name)
        return known

    def _from_outside(self, name: str) -> Value:
        described = self.block._var_recursive(name)
        fed = name in self._fed
        if described.persistable and not fed and _lies_in_scope(described):
            return Value(self._parameter(described))
        if self._around is not None:
            return self._around(name)
        if not described.has_shape:
            raise BadProgram(
                f"variable {name!r} is read, and nothing says its shape: feed it, or write it first"
            )
        shape = self._sizes.get(name, described.shape)
        data = self.builder.data(name, shape, engine_dtype(described.dtype))
        levels = described.lod_level
        runs = tuple(self._offsets(name, level, levels) for level in range(levels))
        self.needs[name] = Need(name, levels, described.persistable and not fed)
        if described.stop_gradient:
            self.halted[name] = name
        return Value(data, runs)

    def _noted(self, name: str, found: str) -> Value:
        """A state, as it was noted."""
        described = self.block._var_recursive(name)
        levels = described.lod_level
        data = self.builder.data(found, described.shape, engine_dtype(described.dtype))
        runs = tuple(self._offsets(found, level, levels) for level in range(levels))
        self.needs[found] = Need(found, levels, False)
        self.stopped.add(found)
        return Value(data, runs)

    def _offsets(self, name: str, level: int, levels: int) -> EngineVariable:
        """What says where sequences begin. While something is inferred, nobody knows which variables are
        made of the same sequences: all of as many levels are taken to be."""
        shared = f"{LOD}{level}of{levels}"
        known = self.builder.program.main.variables.get(shared)
        if self.infers and known is not None:
            return known
        return self.builder.data(shared if self.infers else f"{name}{LOD}{level}", (-1,), "int64")

    def _parameter(self, described: Variable) -> EngineParameter:
        if self._sparse is None:
            # Neither says a shape, and both look through the whole program: of one of thousands of operators
            # each would look through all that were written before it.
            self._sparse = frozenset() if self.infers else sparse_tables(self.block.program)
            self._open = frozenset() if self.infers else frozenset(open_tables(self.block.program))
            self.counted = frozenset() if self.infers else frozenset(counted_tables(self.block.program))
        is_open = described.name in self._open
        shape = described.shape
        if is_open:
            shape = OPEN, shape[-1] + (COUNTS if described.name in self.counted else 0)
        return self.builder.parameter(
            described.name,
            shape,
            _never_drawn,
            is_static=True,
            sparse=is_open or described.name in self._sparse,
            rows=RowsSpec() if is_open else None,
        )

    def _own(self, name: str, variable: EngineVariable, described: Variable | None) -> EngineVariable:
        """A second name of one value is a value of its own where gradients would tell the two apart."""
        owner = self._owners.setdefault(variable.name, name)
        alone = owner == name and not isinstance(variable, EngineParameter) and not variable.is_data
        if not alone and variable.dtype == "float32" and variable.kind == "dense" and not self.infers:
            variable = self.builder.op("scale", {"scale": 1.0, "bias": 0.0}, X=variable)
            self._owners[variable.name] = name
        clip = None if described is None else described.error_clip
        if clip is not None and not self.infers:
            variable = self.builder.op(
                "clip_error", {"min": float(clip.min), "max": float(clip.max)}, X=variable
            )
        return variable

    def _runs_of_first(self, op: Operator, variable: EngineVariable) -> tuple[EngineVariable, ...]:
        for names in op.inputs.values() if op.type not in BARE else ():
            for name in names:
                known = self.env.get(name)
                if known is None or not known.runs:
                    continue
                same = known.variable.shape[:1] == variable.shape[:1]
                return known.runs if same else ()
        return ()


def sparse_tables(program: Any) -> frozenset[str]:
    """The parameters that are read only by look-ups that say so: their gradients are rows. Those that go back
    along what was run are not, as these are added up; nor are the weights of hsigmoid and nce."""
    by_rows: set[str] = set()
    otherwise: set[str] = set()

    for op in (op for block in program.blocks for op in block.ops):
        if op.role == BACKWARD or op.type in UPDATES or op.type == "average_accumulates":
            continue  # who keeps a table averages it
        for slot, names in op.inputs.items():
            is_by_rows = slot == "W" and op.type in LOOKUPS and op.attrs.get("is_sparse")
            (by_rows if is_by_rows else otherwise).update(names)
    taped = through_host(program.global_block().ops) if by_rows else {}
    return frozenset(by_rows - otherwise - {base for each in taped.values() for base in each.bases})


def _lies_in_scope(described: Variable) -> bool:
    is_tensor = described.type == VarType.LOD_TENSOR and is_float(described.dtype)
    return is_tensor and described.has_shape and all(size >= 0 for size in described.shape)


def _describe(described: Variable, variable: EngineVariable, levels: int, dtype: Any) -> None:
    described.shape = variable.shape
    if dtype is not None:
        described.dtype = dtype
    elif not described.has_dtype or engine_dtype(described.dtype) != variable.dtype:
        described.dtype = VarType.FP32 if variable.dtype == "float32" else VarType.INT64
    described.lod_level = levels
    if not is_float(described.dtype) and not described.persistable:
        described._stop_gradient = True


def _never_drawn(shape: Shape, generator: np.random.Generator) -> np.ndarray:
    raise AssertionError("values of parameters come from the scope")


def _at(op: Operator) -> str:
    return f" (written at {op.where})" if op.where else ""


def _said(op: Operator) -> str:
    return f"operator {op.type!r}{_at(op)}"
