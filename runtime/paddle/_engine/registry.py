"""The registry: one row per operator, holding all that the engine knows about it.

A row names the slots and attributes, the shape rule, the forward kernel and the gradient kernel. The rows
themselves stand in ``ops``, one file per family. A kernel is *bound* once per plan: it gets the arrays it
will always work on and yields steps, callables without arguments that the executor calls in order on
every run. The registry must never know a program or a scope.

The gradient of operator ``T`` is an operator ``T_grad``. It reads the forward values that its row
``needs`` under their own slot names and the gradients of the output slots ``given`` as ``<slot>@GRAD``; it
writes ``<slot>@GRAD`` of those input slots in ``of`` whose gradient is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from paddle._engine.errors import DtypeError, NotDifferentiable, ShapeError, UnknownOperator
from paddle._engine.exchange import Stepping, StepReport
from paddle._engine.program import GRAD, Form, Operator
from paddle._engine.rows import SparseRows
from paddle._engine.teams.crew import Crew

Value: TypeAlias = np.ndarray | SparseRows
Step: TypeAlias = Callable[[], object]
Ahead: TypeAlias = Callable[[Mapping[str, Sequence[np.ndarray]], Mapping[str, Any]], Mapping[str, np.ndarray]]
Steps: TypeAlias = Iterator[Step]

IDS, VALUES = "#ids", "#values"
"""What is appended to the name or slot of a rows variable to speak of one of its two arrays."""

KNOWN = "@KNOWN"
"""What is appended to the name of a slot to give a gradient its own result: see ``Gradient.reuses``."""

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()
"""The default of an attribute that has none."""


@dataclass(slots=True)
class Run:
    """What one run tells its operators, and what they tell it: renewed before every run, read by bound steps.

    ``seed`` and ``step`` are all the randomness that there is. ``rate``: see Stepping.step. Where a batch is
    run in parts (team.py), ``part`` is the number of this one, and ``before`` says how many samples are in
    those before it. ``keep``: what an operator whose memory only values can size leaves for its gradient, by
    the name of its first output; the plans of an executor share it. ``crew``: threads that take a part of
    what is large (teams/shared.py), where there are any.
    """

    seed: int = 0
    step: int = 0
    samples: int = 0
    rate: float | None = None
    part: int = 0
    before: int = 0
    exchange: Stepping | None = None
    report: StepReport | None = None
    keep: dict[str, Any] = field(default_factory=dict)
    crew: Crew | None = None


@dataclass(frozen=True, slots=True)
class Forms:
    """What a shape rule sees of one call: the forms in the input slots, and the attributes."""

    slots: Mapping[str, tuple[Form, ...]]
    attrs: Mapping[str, Any]

    def __getitem__(self, slot: str) -> Form:
        return self.slots[slot][0]

    def __contains__(self, slot: str) -> bool:
        return bool(self.slots.get(slot))

    def all(self, slot: str) -> tuple[Form, ...]:
        """All forms of a slot that takes several variables."""
        return self.slots[slot]


@dataclass(frozen=True, slots=True)
class Call:
    """What a kernel binds to: the values in all slots of one call, its attributes, and the run it is part of.

    An output whose gradient nobody wants is None.
    """

    operator: Operator
    slots: Mapping[str, tuple[Value | None, ...]]
    run: Run
    scratch: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes, defaults filled in."""
        return self.operator.attrs

    def __contains__(self, slot: str) -> bool:
        return any(value is not None for value in self.slots.get(slot, ()))

    def __getitem__(self, slot: str) -> np.ndarray:
        value = self.slots[slot][0]
        if not isinstance(value, np.ndarray):
            raise ShapeError(
                f"operator {self.operator.type!r} takes no {type(value).__name__} in slot {slot!r}"
            )
        return value

    def get(self, slot: str, default: np.ndarray) -> np.ndarray:
        """The array in a slot, or another where nobody wants it."""
        return self[slot] if slot in self else default  # noqa: SIM401 (this is the definition)

    def wanted(self, slot: str) -> np.ndarray | None:
        """The array in a slot, None where nobody wants it."""
        return self[slot] if slot in self else None  # noqa: SIM401 (this is the definition)

    def arrays(self, slot: str) -> list[np.ndarray | None]:
        """All arrays of a slot that takes several variables."""
        return [value if isinstance(value, np.ndarray) else None for value in self.slots[slot]]

    def rows(self, slot: str) -> SparseRows | None:
        """The SparseRows in a slot, or None where it holds a dense array."""
        value = self.slots[slot][0]
        return value if isinstance(value, SparseRows) else None


def _no_scratch(forms: Forms) -> Mapping[str, Form]:
    return {}


@dataclass(frozen=True, slots=True)
class Kernel:
    """How an operator is computed.

    ``reshapes``: outputs that always hold the elements of an input in their order, whatever the shapes.
    ``views``: outputs that hold those of an input where the two have one form. The plan makes them the
    same memory where it can; the kernel copies where it finds them apart. ``in_place``: outputs that may
    overwrite an input of the same form that nobody reads later. ``scratch``: what the kernel needs besides,
    from the forms of its inputs; it holds anything when the kernel begins, and anybody's when it has ended.

    The slot of an output speaks of a dense array only: one that is rows has ``<slot>#values`` and
    ``<slot>#ids``, and what is true of these is seldom true of a dense array in the same slot.
    """

    bind: Callable[[Call], Steps]
    scratch: Callable[[Forms], Mapping[str, Form]] = _no_scratch
    reshapes: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    in_place: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_scratch(self) -> bool:
        """Whether it may need anything besides."""
        return self.scratch is not _no_scratch


@dataclass(frozen=True, slots=True, kw_only=True)
class Gradient(Kernel):
    """How the gradient of an operator is computed, and from what.

    ``rows``: how many rows the gradient lists where it is SparseRows (-1: a feed decides), None where it
    is dense. It reads the gradients of all variables in the slots ``given`` and ``also``; of those that
    nothing depends on, zeros. Of variables in the slots ``perhaps`` it reads those gradients that there are.
    ``reuses``: the input whose gradient, where it is there already as
    ``<slot>@KNOWN``, is not computed again for those of others.
    """

    of: tuple[str, ...] = ("X",)
    needs: tuple[str, ...] = ()
    given: str = "Out"
    also: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()
    reuses: str = ""
    rows: Callable[[Forms], int | None] = lambda forms: None


@dataclass(frozen=True, slots=True)
class Index:
    """Slot ``ids`` holds integers that point into an axis of slot ``into``: the executor checks them.
    ``passed``: the attribute that names one which points at nothing, and is passed over."""

    ids: str
    into: str
    axis: int
    passed: str = ""


@dataclass(frozen=True, slots=True)
class Runs:
    """Slot ``offsets`` says which rows of slot ``of`` are one sequence (kernels/runs.py): the executor checks
    that it does."""

    offsets: str
    of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One operator. A slot written ``X*`` takes one variable or more; of outputs, as many as ``shape`` says.
    A slot of an input written ``X?`` takes one variable or none.
    ``changes``: the input slots whose variables a run changes, by its attributes: parameters that no
    gradient moves, such as moving averages. ``ahead``: computes the outputs from inputs and attributes
    before a plan is made, as its shapes follow from them. ``sized``: whether the outputs follow from the
    sizes of inputs alone, by its attributes. ``floats``: the input slots that take no whole numbers.
    ``apart``: an output that an operator of another type computes from some of the inputs.
    """

    type: str
    inputs: tuple[str, ...] = ("X",)
    outputs: tuple[str, ...] = ("Out",)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    shape: Callable[[Forms], Mapping[str, Form | tuple[Form, ...]]]
    forward: Kernel
    gradient: Gradient | None = None
    ahead: Ahead | None = None
    sized: Callable[[Mapping[str, Any]], bool] = lambda attrs: False
    apart: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    indexes: tuple[Index, ...] = ()
    runs: tuple[Runs, ...] = ()
    changes: Callable[[Mapping[str, Any]], tuple[str, ...]] = lambda attrs: ()
    floats: Callable[[Forms], tuple[str, ...]] = lambda forms: ()

    def slots(self, given: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """The input slots filled with the names given, complete and in the row's order."""
        known = {slot.rstrip("*?"): slot for slot in self.inputs}
        needed = {slot for slot, written in known.items() if not written.endswith("?")}
        if unknown := sorted((set(given) - set(known)) | (needed - set(given))):
            raise ShapeError(
                f"operator {self.type!r} has the input slots {list(known)}: {unknown} missing or unknown"
            )
        slots = {slot: tuple(given.get(slot, ())) for slot in known}
        for slot, names in slots.items():
            if (slot in needed and not names) or (len(names) > 1 and not known[slot].endswith("*")):
                raise ShapeError(f"operator {self.type!r}: slot {slot!r} got {len(names)} variables")
        return slots

    def attributes(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The attributes given, with defaults for the others."""
        if unknown := sorted(set(given) - set(self.attrs)):
            raise ShapeError(
                f"operator {self.type!r} has no attribute {unknown}; it has {sorted(self.attrs)}"
            )
        attrs = {**self.attrs, **given}
        if missing := [name for name, value in attrs.items() if value is REQUIRED]:
            raise ShapeError(f"operator {self.type!r} needs the attributes {missing}")
        return attrs

    def check_kinds(self, forms: Forms) -> None:
        """Refuse whole numbers where floats alone are computed with. Raises DtypeError."""
        for slot in self.floats(forms):
            for form in forms.slots.get(slot, ()):
                if not form.dtype.startswith("float"):
                    raise DtypeError(f"{slot} is of float32 or float64, and not of {form.dtype}: cast it")


@cache
def table() -> Mapping[str, Row]:
    """All operators by type."""
    from paddle._engine.ops import ROWS  # the families import this module

    return {row.type: row for row in ROWS}


def row(type: str) -> Row:
    """The row of an operator, or of the operator whose gradient it is."""
    try:
        return table()[type.removesuffix("_grad")]
    except KeyError:
        raise UnknownOperator(f"no operator {type!r} in this release; it has {sorted(table())}") from None


def same_memory(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are the same bytes: nothing is left to copy.

    An empty array is no memory, though it may begin where another one does.
    """
    if a is b or a.nbytes != b.nbytes:
        return a is b
    return bool(a.__array_interface__["data"][0] == b.__array_interface__["data"][0])


def kernel(type: str) -> Kernel:
    """The kernel that computes an operator or, for ``T_grad``, the gradient of one."""
    return gradient(type.removesuffix("_grad")) if type.endswith("_grad") else row(type).forward


def gradient(type: str) -> Gradient:
    """The gradient kernel of an operator."""
    found = row(type).gradient
    if found is None:
        raise NotDifferentiable(f"operator {type!r} has no gradient: no parameter may lie behind it")
    return found


def scratch(operator: Operator, forms: Mapping[str, Form]) -> Mapping[str, Form]:
    """What the operator's kernel needs besides its inputs and outputs, by a name of its own."""
    found = kernel(operator.type)
    return found.scratch(_seen(operator, forms)) if found.has_scratch else {}


def _seen(operator: Operator, forms: Mapping[str, Form]) -> Forms:
    slots = {slot: tuple(forms[n] for n in names) for slot, names in operator.inputs.items()}
    return Forms(slots, operator.attrs)


def _listed(found: Form | tuple[Form, ...]) -> tuple[Form, ...]:
    return (found,) if isinstance(found, Form) else found


def infer(operator: Operator, forms: Mapping[str, Form]) -> dict[str, Form]:
    """The forms of all that the operator writes. A gradient has the form of the variable it is of."""
    seen = _seen(operator, forms)
    try:
        if not operator.type.endswith("_grad"):
            known = row(operator.type)
            found = known.shape(seen)
            known.check_kinds(seen)
            return {
                name: form
                for slot, names in operator.outputs.items()
                for name, form in zip(names, _listed(found[slot]), strict=True)
            }
        rows = gradient(operator.type.removesuffix("_grad")).rows(seen)
    except ShapeError as error:
        raise type(error)(f"{error}, in {operator}") from None
    originals = {name: forms[name.rpartition(GRAD)[0]] for name in operator.writes()}
    return {name: Form(form.shape, form.dtype, rows) for name, form in originals.items()}
