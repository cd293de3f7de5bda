"""Layout: where every variable of a plan lies, and what binds operators to it.

It must never run anything. Guarantee: what memory.py says of storages holds for arrays; ids of sparse
parameters are fed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from math import prod

import numpy as np

from paddle._engine import registry
from paddle._engine.arena import Arena
from paddle._engine.errors import ShapeError
from paddle._engine.fixed import LOOKUPS, is_open, open_lookups
from paddle._engine.memory import Memory
from paddle._engine.open_rows import OpenRows
from paddle._engine.pointers import checks
from paddle._engine.program import Form, Operator, Parameter, Program
from paddle._engine.registry import IDS, VALUES, Call, Run, Step, Value
from paddle._engine.rows import SparseRows


@dataclass(frozen=True, slots=True)
class Place:
    """Where an array lies: at ``offset`` of the arena, None where it is not the plan's. ``how``: it "is" the
    memory of the variable ``of``, or is written "over" it; or empty."""

    name: str
    form: Form
    nbytes: int
    offset: int | None
    how: str
    of: str


class Layout:
    """Where every variable of a plan lies, and what binds operators to it."""

    def __init__(
        self,
        operators: Sequence[Operator],
        forms: Mapping[str, Form],
        fixed: Mapping[str, np.ndarray],
        fetch: Sequence[str],
        arena: Arena,
    ):
        self._forms = forms
        self._fixed = fixed
        self.shared: dict[str, tuple[str, str]] = {}
        self._memory = Memory(_last_reads(operators, forms, fetch))
        updated = _updates(operators)
        for name, array in fixed.items():
            self._memory.adopt(name, array.nbytes, updated.get(name))
        for time, operator in enumerate(operators):
            self._place(operator, time)
        self.size = self._memory.arrange()
        self._arena = arena.room(self.size)
        self._roots = {
            id(self._memory[name]): array.reshape(-1).view(np.uint8) for name, array in fixed.items()
        }
        self.values: dict[str, Value] = {name: self._value(name) for name in forms}
        self.open = {name: self._open(operators, name) for name in fixed if is_open(forms[name])}
        self._bound = {name: iter(table.places) for name, table in self.open.items()}

    def steps(self, operator: Operator, run: Run) -> Iterator[Step]:
        """The checks of ids that the program computes itself, then the operator's steps."""
        yield from self.checks(operator, fed=False)
        slots = {
            slot: tuple(self.values.get(name) for name in names)
            for slot, names in chain(operator.inputs.items(), operator.outputs.items())
        }
        if operator.type in LOOKUPS and operator.inputs["W"][0] in self.open:
            slots["Ids"] = tuple(islice(self._bound[operator.inputs["W"][0]], len(slots["Ids"])))
        scratch = {key: self._array(cell, form) for key, cell, form in self._scratch(operator)}
        yield from registry.kernel(operator.type).bind(Call(operator, slots, run, scratch))

    def places(self, operator: Operator) -> Iterator[Place]:
        """Where all lies that an operator writes, and what its kernel needs besides."""
        for name in operator.writes():
            for cell, form in _cells(name, self._forms[name]).items():
                yield self._found(cell if cell in self._memory else name, cell, form)
        for _, cell, form in self._scratch(operator):
            yield self._found(cell, cell, form)

    def _found(self, key: str, cell: str, form: Form) -> Place:
        storage = self._memory[key]
        how, of = self.shared.get(cell, ("", ""))
        return Place(cell, form, _nbytes(form), storage.offset if storage.owned else None, how, of)

    def _open(self, operators: Sequence[Operator], table: str) -> OpenRows:
        found = [self._fed_ids(name, table) for name in open_lookups(operators, table)]
        return OpenRows(self._fixed[table], found)

    def _fed_ids(self, name: str, table: str) -> np.ndarray:
        ids = self.values[name]
        if not self._is_fed(name) or not isinstance(ids, np.ndarray):
            raise ShapeError(f"ids {name!r} of the sparse parameter {table!r} must be fed, not computed")
        return ids

    def checks(self, operator: Operator, *, fed: bool) -> Iterator[Step]:
        """Checks of what an operator points with: of what is fed, or of what is not."""
        if operator.role != "forward":
            return
        for name, into, check in checks(operator, self.values, self._forms):
            if into not in self.open and self._is_fed(name) == fed:  # in an open table any number is an id
                yield check

    def lookups(
        self, program: Program, operators: Sequence[Operator], kept: Collection[str] | None
    ) -> dict[str, list[np.ndarray]]:
        """The flat ids of all lookups in sparse parameters of a declared height that are kept, by name."""
        found: dict[str, list[np.ndarray]] = {}
        forward = [operator for operator in operators if operator.role == "forward"]
        for operator, index in ((each, i) for each in forward for i in registry.row(each.type).indexes):
            (table,) = operator.inputs[index.into]
            parameter = program.main.variables.get(table)
            if not isinstance(parameter, Parameter) or not parameter.spec.sparse or table in self.open:
                continue
            if kept is not None and table not in kept:
                continue
            ids = [self._fed_ids(name, table).reshape(-1) for name in operator.inputs[index.ids]]
            found.setdefault(table, []).extend(ids)
        return found

    def _is_fed(self, name: str) -> bool:
        return not self._memory[name].owned

    def _place(self, operator: Operator, time: int) -> None:
        """Storage for all that an operator writes: a view or an overwritten input where its kernel allows."""
        kernel, memory = registry.kernel(operator.type), self._memory
        read: list[str] | None = None
        for key, cell, form in self._written(operator):
            nbytes = _nbytes(form)
            viewed = _source(operator, kernel.reshapes, key) or self._like(operator, kernel.views, key, form)
            if viewed and memory.view(cell, viewed, nbytes, time):
                self.shared[cell] = "is", viewed
                continue
            overwritten = self._like(operator, kernel.in_place, key, form)
            if overwritten and read is None:
                read = list(chain.from_iterable(_cells(n, self._forms[n]) for n in operator.reads()))
            if overwritten and read is not None and memory.overwrite(cell, overwritten, nbytes, time, read):
                self.shared[cell] = "over", overwritten
                continue
            memory.new(cell, nbytes, time)
        for _, cell, form in self._scratch(operator):
            memory.new(cell, _nbytes(form), time)

    def _scratch(self, operator: Operator) -> Iterator[tuple[str, str, Form]]:
        """What an operator's kernel needs besides: its own name for it, cell, form.

        One that writes nothing by name moves the parameter that it reads last.
        """
        for key, form in registry.scratch(operator, self._forms).items():
            name = next(operator.writes(), None) or list(operator.reads())[-1]
            yield key, f"{name}#scratch.{key}", form

    def _written(self, operator: Operator) -> Iterator[tuple[str, str, Form]]:
        """What an operator writes and has no place yet: key in a kernel's permissions, cell, form."""
        outputs = ((slot, name) for slot, names in operator.outputs.items() for name in names if name)
        for slot, name in outputs:
            if name not in self._fixed:
                form = self._forms[name]
                cells = _cells(name, form).items()
                for key, (cell, piece) in zip(_cells(slot, form), cells, strict=True):
                    yield key, cell, piece

    def _like(self, operator: Operator, allowed: Mapping[str, str], key: str, form: Form) -> str | None:
        """The variable that an output may share memory with because both have one form.

        Equal sizes would not do: a gradient summed over a batch of one, or of a table with as many rows
        as the batch has lookups, is as large as what it is computed from.
        """
        source = _source(operator, allowed, key)
        return source if source and self._forms[source] == form else None

    def _value(self, name: str) -> Value:
        form = self._forms[name]
        if name in self._fixed:
            return self._fixed[name]
        if form.rows is None:
            return self._array(name, form)
        arrays = {cell: self._array(cell, piece) for cell, piece in _cells(name, form).items()}
        return SparseRows(arrays[name + IDS], arrays[name + VALUES], form.shape[0])

    def _array(self, cell: str, form: Form) -> np.ndarray:
        storage = self._memory[cell]
        root = self._arena[storage.offset :] if storage.owned else self._roots[id(storage)]
        return root[: _nbytes(form)].view(form.dtype).reshape(form.shape)


def _cells(name: str, form: Form) -> dict[str, Form]:
    """The arrays that a variable, or what stands in a slot, consists of, with the form of each."""
    if form.rows is None:
        return {name: form}
    values, ids = Form((form.rows, *form.shape[1:]), form.dtype), Form((form.rows,), "int64")
    return {name + VALUES: values, name + IDS: ids}


def _nbytes(form: Form) -> int:
    return prod(form.shape) * np.dtype(form.dtype).itemsize


def _last_reads(
    operators: Sequence[Operator], forms: Mapping[str, Form], fetch: Sequence[str]
) -> dict[str, int]:
    last: dict[str, int] = {}
    for time, operator in enumerate(operators):
        last.update(dict.fromkeys(operator.reads(), time))
    last.update(dict.fromkeys(fetch, len(operators)))
    return {cell: time for name, time in last.items() for cell in _cells(name, forms[name])}


def _updates(operators: Sequence[Operator]) -> dict[str, int]:
    """When the parameters that an exchange updates get their new values."""
    return {
        name: time
        for time, each in enumerate(operators)
        if each.role == "exchange"
        for name in each.inputs["Param"]
    }


def _source(operator: Operator, allowed: Mapping[str, str], key: str) -> str | None:
    """The variable in the slot that an output may share memory with."""
    names = operator.inputs.get(allowed.get(key, ""))
    return names[0] if names else None
