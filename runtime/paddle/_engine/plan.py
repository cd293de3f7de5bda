"""A plan: one program made ready for feeds of known shapes and a known list of fetches.

Making it costs; running it does not: every variable has its array, every operator is bound to arrays, and
a run is feeding, calling the steps in order, and copying out what is fetched. It must never know how
often it runs.

Guarantees: a run works in memory laid out beforehand; arrays that leave the plan (to an exchange) are
the same ones on every run; ids are checked against their tables before anything is computed or prefetched
with them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from math import prod

import numpy as np

from paddle._engine import registry
from paddle._engine.arena import Arena
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.exchange import Stepping
from paddle._engine.memory import Memory
from paddle._engine.open_rows import OpenRows
from paddle._engine.overlap import overlap_of
from paddle._engine.passes import improve
from paddle._engine.pointers import checks
from paddle._engine.program import Form, Operator, Parameter, Program, Shape
from paddle._engine.registry import IDS, VALUES, Call, Run, Step, Value
from paddle._engine.rows import OPEN, SparseRows
from paddle._engine.scope import Scope


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Plan:
    """What a run does, in this order: ``feeds``, ``checks``, prefetch of ``lookups`` and lookup in ``open``
    tables, ``steps``, ``lasts``, ``fetches``.

    ``generation``: that of ``scope``, whose arrays the steps are bound to, as they are to the arena's
    ``memory``; the plan is void when either is replaced. ``trains``: it ends in an exchange.
    """

    scope: Scope
    generation: int
    memory: np.ndarray
    trains: bool
    run: Run
    feeds: Mapping[str, np.ndarray]
    checks: Sequence[Step]
    lookups: Mapping[str, Sequence[np.ndarray]]
    open: Mapping[str, OpenRows]
    steps: Sequence[tuple[Step, Operator]]
    lasts: Sequence[Step]
    fetches: Sequence[Value]
    forms: Mapping[str, Form]

    def __call__(self, feed: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """Run once. ``self.run`` says with which exchange, seed, step and samples."""
        self._feed(feed)
        for check in self.checks:
            check()
        if self.lookups and self.run.exchange is not None:
            self.run.exchange.prefetch({table: _joined(ids) for table, ids in self.lookups.items()})
        if self.open:
            self._look_up()
        operator = None
        try:
            for step, operator in self.steps:  # noqa: B007 (the except clause reads it)
                step()
        except Exception as error:
            error.add_note(f"in operator {operator}")
            raise
        for last in self.lasts:
            last()
        return [value.to_dense() if isinstance(value, SparseRows) else value.copy() for value in self.fetches]

    def _look_up(self) -> None:
        source = self.run.exchange or self.scope
        ids = {name: table.distinct() for name, table in self.open.items()}
        for name, rows in source.lookup(ids, training=self.trains).items():
            self.open[name].take(rows)

    def _feed(self, feed: Mapping[str, np.ndarray]) -> None:
        for name, buffer in self.feeds.items():
            try:
                np.copyto(buffer, feed[name], casting="same_kind")
            except TypeError:
                given = np.asarray(feed[name]).dtype
                said = f"data {name!r} is {buffer.dtype}, the feed gives {given}: convert it"
                raise FeedError(said) from None


def make_plan(
    program: Program,
    feed_shapes: Mapping[str, Shape],
    fetch: Sequence[str],
    scope: Scope,
    gradients: dict[str, np.ndarray],
    room: Mapping[str, np.ndarray],
    exchange: Stepping | None = None,
    kept: Collection[str] | None = None,
    arena: Arena | None = None,
) -> Plan:
    """Plan a program. ``gradients`` holds the dense gradients that leave: all plans hand over the same. They
    lie in the ``room`` that there is for those of a parameter, or anywhere. ``kept``: see Executor. All else
    is made in ``arena``, a new one if None: a plan that works there undoes what another has left."""
    for name in (*feed_shapes, *fetch):
        program.variable(name)
    operators = improve(program.main.operators, frozenset(fetch))
    forms = _forms(program, operators, feed_shapes, fetch)
    fixed = _fixed(program, operators, forms, scope) | _leaving(operators, forms, gradients, room)
    for name in fixed.keys() & set(fetch):
        if _is_open(forms[name]):
            raise FeedError(f"{name!r} is a table without a height, and no array to fetch: export its rows")
    arena = arena or Arena()
    layout = _Layout(operators, forms, fixed, fetch, arena)
    run = Run(exchange=exchange, keep=arena.keep)
    overlap = overlap_of(exchange, program, operators, fixed)
    return Plan(
        scope=scope,
        generation=scope.generation,
        memory=arena.memory,
        trains=any(operator.role == "exchange" for operator in operators),
        run=run,
        feeds={name: array for name, array in fixed.items() if program.variable(name).is_data},
        checks=[check for operator in operators for check in layout.checks(operator, fed=True)],
        lookups=layout.lookups(program, operators, kept),
        open=layout.open,
        steps=list(overlap.steps(operators, partial(layout.steps, run=run))),
        lasts=list(overlap.last(fetch)),
        fetches=[layout.values[name] for name in fetch],
        forms=forms,
    )


def _joined(ids: Sequence[np.ndarray]) -> np.ndarray:
    return ids[0] if len(ids) == 1 else np.concatenate(ids)


def _forms(
    program: Program, operators: Sequence[Operator], feed_shapes: Mapping[str, Shape], fetch: Sequence[str]
) -> dict[str, Form]:
    """The forms of all variables of a run, every size known."""
    made = {name for operator in operators for name in operator.writes()}
    forms: dict[str, Form] = {}
    for name in dict.fromkeys(chain(chain.from_iterable(each.reads() for each in operators), fetch)):
        if name in made:
            continue
        variable = program.variable(name)
        if isinstance(variable, Parameter):
            forms[name] = variable.form
        elif not variable.is_data:
            raise FeedError(f"{name!r} is made by no operator of this program: it cannot be fetched")
        elif name not in feed_shapes:
            raise FeedError(f"the feed lacks {variable}; it has {sorted(feed_shapes)}")
        else:
            forms[name] = Form(_fitting(str(variable), variable.shape, feed_shapes[name]), variable.dtype)
    for operator in operators:
        forms |= registry.infer(operator, forms)
    return forms


def _fitting(variable: str, declared: Shape, given: Shape) -> Shape:
    pairs = zip(declared, given, strict=False)
    if len(declared) != len(given) or any(size not in (-1, actual) for size, actual in pairs):
        raise FeedError(f"data {variable}: the feed's shape {list(given)} does not fit")
    return given


def _fixed(
    program: Program, operators: Sequence[Operator], forms: Mapping[str, Form], scope: Scope
) -> dict[str, np.ndarray]:
    """The arrays that somebody else has given: feed buffers and parameters."""
    fixed: dict[str, np.ndarray] = {}
    made = {name for operator in operators for name in operator.writes()}
    for name in forms.keys() - made:
        if program.variable(name).is_data:
            fixed[name] = np.empty(forms[name].shape, forms[name].dtype)
        elif _is_open(forms[name]):
            sizes = [prod(forms[ids].shape) for ids in _open_lookups(operators, name)]
            fixed[name] = np.empty((sum(sizes), *forms[name].shape[1:]), np.float32)
        else:
            fixed[name] = _parameter(scope, name, forms[name])
    return fixed


def _is_open(form: Form) -> bool:
    """Whether it is an open table's: no other size is unknown when a plan is made."""
    return form.rows is None and form.shape[:1] == (OPEN,)


def _open_lookups(operators: Sequence[Operator], table: str) -> Iterator[str]:
    """The ids with which an open table is looked up."""
    for operator in operators:
        if operator.role == "exchange" or table not in operator.reads():
            continue
        if operator.type != "lookup_table" or not operator.attrs["is_sparse"]:
            raise ShapeError(
                f"{table!r} is a table without a height: nobody has all of it, so it can be looked up in "
                f"(lookup_table with is_sparse), and nothing else, such as {operator}"
            )
        yield operator.inputs["Ids"][0]


def _leaving(
    operators: Sequence[Operator],
    forms: Mapping[str, Form],
    gradients: dict[str, np.ndarray],
    room: Mapping[str, np.ndarray],
) -> dict[str, np.ndarray]:
    """The arrays of dense gradients that leave."""
    exchanges = [each.inputs for each in operators if each.role == "exchange"]
    pairs = {n: p for each in exchanges for p, n in zip(each["Param"], each["Grad"], strict=True)}
    leaving = {name: parameter for name, parameter in pairs.items() if forms[name].rows is None}
    for name in leaving.keys() - gradients.keys():
        array = room.get(leaving[name])
        gradients[name] = np.empty(forms[name].shape, forms[name].dtype) if array is None else array
    return {name: gradients[name] for name in leaving}


def _parameter(scope: Scope, name: str, form: Form) -> np.ndarray:
    array = scope.get(name)
    if array.shape != form.shape or array.dtype != form.dtype:
        raise ShapeError(
            f"parameter {name!r} is {form.dtype}{list(form.shape)} in the program, "
            f"{array.dtype}{list(array.shape)} in the scope"
        )
    return array


class _Layout:
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
        self._memory = Memory(_last_reads(operators, forms, fetch))
        updated = _updates(operators)
        for name, array in fixed.items():
            self._memory.adopt(name, array.nbytes, updated.get(name))
        for time, operator in enumerate(operators):
            self._place(operator, time)
        self._arena = arena.room(self._memory.arrange())
        self._roots = {
            id(self._memory[name]): array.reshape(-1).view(np.uint8) for name, array in fixed.items()
        }
        self.values: dict[str, Value] = {name: self._value(name) for name in forms}
        self.open = {name: self._open(operators, name) for name in fixed if _is_open(forms[name])}
        self._bound = {name: iter(table.places) for name, table in self.open.items()}

    def steps(self, operator: Operator, run: Run) -> Iterator[Step]:
        """The checks of ids that the program computes itself, then the operator's steps."""
        yield from self.checks(operator, fed=False)
        slots = {
            slot: tuple(self.values.get(name) for name in names)
            for slot, names in chain(operator.inputs.items(), operator.outputs.items())
        }
        if operator.type == "lookup_table" and operator.inputs["W"][0] in self.open:
            slots["Ids"] = (next(self._bound[operator.inputs["W"][0]]),)
        scratch = {key: self._array(cell, form) for key, cell, form in self._scratch(operator)}
        yield from registry.kernel(operator.type).bind(Call(operator, slots, run, scratch))

    def _open(self, operators: Sequence[Operator], table: str) -> OpenRows:
        found = [self._fed_ids(name, table) for name in _open_lookups(operators, table)]
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
            (table,), (name,) = operator.inputs[index.into], operator.inputs[index.ids]
            parameter = program.variable(table)
            if not isinstance(parameter, Parameter) or not parameter.spec.sparse or table in self.open:
                continue
            if kept is not None and table not in kept:
                continue
            found.setdefault(table, []).append(self._fed_ids(name, table).reshape(-1))
        return found

    def _is_fed(self, name: str) -> bool:
        return not self._memory[name].owned

    def _place(self, operator: Operator, time: int) -> None:
        """Storage for all that an operator writes: a view or an overwritten input where its kernel allows."""
        kernel, memory = registry.kernel(operator.type), self._memory
        read = list(chain.from_iterable(_cells(name, self._forms[name]) for name in operator.reads()))
        for key, cell, form in self._written(operator):
            nbytes = _nbytes(form)
            viewed = _source(operator, kernel.reshapes, key) or self._like(operator, kernel.views, key, form)
            if viewed and memory.view(cell, viewed, nbytes, time):
                continue
            overwritten = self._like(operator, kernel.in_place, key, form)
            if overwritten and memory.overwrite(cell, overwritten, nbytes, time, read):
                continue
            memory.new(cell, nbytes, time)
        for _, cell, form in self._scratch(operator):
            memory.new(cell, _nbytes(form), time)

    def _scratch(self, operator: Operator) -> Iterator[tuple[str, str, Form]]:
        """What an operator's kernel needs besides: its own name for it, cell, form."""
        for key, form in registry.scratch(operator, self._forms).items():
            yield key, f"{next(operator.writes())}#scratch.{key}", form

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
