"""What LSTM and GRU over packed sequences are made of: products with few rows (panels.py, strips.py), and
which row stands where in time; and the operator that brings such rows back.

Slot Offsets says where sequences begin (see sequence.py). X holds for each row what reaches the gates from
outside; Weight brings what reaches them from the moment before. First, and FirstState of an LSTM, have a row
for each sequence: what was before the first moment, zeros if it is not said.

Sources of the semantics: v2's ``lstmemory`` and ``grumemory``, fluid's ``dynamic_lstm``, ``dynamic_lstmp``
and ``dynamic_gru``, whose layouts of parameters these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from paddle._engine import tiled
from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Kernel, Row, Runs, Steps

Scratch = Callable[[Forms], Mapping[str, Form]]

_OF_WEIGHT = "of weight: "

_ACTIVATIONS = ("sigmoid", "tanh", "relu", "identity")
"""Those that are fused, in the order of their numbers (kernels/bends.py)."""


def number(activation: str) -> int:
    """That of an activation among kernels."""
    if activation not in _ACTIVATIONS:
        raise ShapeError(f"an activation here is one of {', '.join(_ACTIVATIONS)}, not {activation!r}")
    return _ACTIVATIONS.index(activation)


class Factor:
    """A matrix of every moment, laid out by ``renew`` for all of them; a call is out += x @ matrix.

    ``room``: scratch of the shape that ``room_of`` says; of none, numpy multiplies.
    """

    def __init__(self, matrix: np.ndarray, room: np.ndarray) -> None:
        from paddle._engine.kernels.matrices import panels, strips  # loads numba

        self.renew: Callable[[], object]
        self._add: Callable[[np.ndarray, np.ndarray], object]
        if not len(room):
            self.renew, self._add = _nothing, lambda x, out: panels.numpy_add_product(x, matrix, out)
        elif room.ndim == 3:
            self.renew = partial(panels.lay_out, matrix, room)
            self._add = lambda x, out: panels.add_product(x, room, out)
        else:
            parts, is_turned = strips.cut(room, *matrix.shape), matrix.strides[1] != matrix.itemsize
            self.renew = partial(strips.lay_out, matrix.T if is_turned else matrix, is_turned, parts)
            self._add = lambda x, out: strips.add_product(x, parts, out)

    def __call__(self, x: np.ndarray, out: np.ndarray) -> None:
        self._add(x, out)

    def onto_nothing(self, x: np.ndarray, out: np.ndarray) -> None:
        """out = x @ matrix."""
        out.fill(0)
        self(x, out)


def _nothing() -> None:
    pass


def room_of(count: int, height: int, width: int, dtype: str) -> Form:
    """What a factor of so many rows and columns needs for products with up to ``count`` rows. A matrix of few
    columns, or of another dtype than float32, needs nothing."""
    from paddle._engine.kernels.matrices import panels, strips  # loads numba

    shape = strips.room(count, height, width, dtype)
    return Form(shape if shape[0] else panels.panels(height, width, dtype), dtype)


class Timeline:
    """Which row stands where, one moment after another, renewed by ``renew`` for the offsets of a run."""

    def __init__(self, call: Call, rows: int) -> None:
        self._offsets, self._is_reverse = call["Offsets"], bool(call.attrs["is_reverse"])
        self.rows, self._counts, self._before = (np.empty(rows, np.int64) for _ in range(3))
        self._moments, self._order = 0, np.empty(0, np.int64)

    def renew(self) -> None:
        from paddle._engine.kernels.timeline import lay_out  # loads numba

        self._order = np.argsort(-np.diff(self._offsets), kind="stable")
        self._moments = lay_out(
            self._offsets, self._is_reverse, self._order, self.rows, self._before, self._counts
        )

    def __iter__(self) -> Iterator[tuple[slice, slice]]:
        """Of each moment its places, and those of the same sequences one moment earlier: none at first."""
        at = earlier = 0
        for t in range(self._moments):
            count = int(self._counts[t])
            yield slice(at, at + count), slice(earlier, earlier + (count if t else 0))
            earlier, at = at, at + count

    def backwards(self) -> list[tuple[slice, slice]]:
        """The same from the last moment."""
        return list(self)[::-1]

    @property
    def begun(self) -> np.ndarray:
        """The sequences that have a first moment, as they stand in it."""
        return self._order[: int(self._counts[0]) if self._moments else 0]

    def lay_first(self, given: np.ndarray | None, out: np.ndarray) -> None:
        """``out`` holds what was ``given`` of the sequences, 0 if nothing was, as they stand at first."""
        if given is None:
            out.fill(0)
        else:
            np.take(given, self.begun, 0, out[: len(self.begun)], "clip")

    def give_first(self, first: np.ndarray, out: np.ndarray) -> None:
        """The way back from there: 0 for sequences that have no moment."""
        out.fill(0)
        out[self.begun] = first[: len(self.begun)]

    def former(self, source: np.ndarray, first: np.ndarray | None, out: np.ndarray) -> None:
        """``out`` is what ``source``, laid out in time, was one moment earlier; before the first one, what
        was given ``first``."""
        np.take(source, self._before, 0, out, "clip")
        self.lay_first(first, out[: len(self.begun)])


def outside(call: Call, time: Timeline, dgates: np.ndarray) -> Steps:
    """The gradient of X: that of what reached the gates, row by row. It may be where these were: after time
    was passed nobody reads them."""
    if "X@GRAD" in call:
        yield partial(call["X@GRAD"].__setitem__, time.rows, dgates)


def checked(forms: Forms, gates: int, biases: tuple[int, ...]) -> tuple[Form, int]:
    """The form of a state, and of how many columns it is; there may be so many biases for each."""
    x, weight = shapes.matrix(forms, "X"), shapes.matrix(forms, "Weight")
    h = weight.shape[1] // gates
    shapes.alike(forms, "X", "Weight")
    if weight.shape[1] != gates * h or not shapes.agree(x.shape[1], gates * h):
        raise ShapeError(
            f"with a state of {h}, X and Weight have {gates * h} columns each, "
            f"not {x.shape[1]} and {weight.shape[1]}"
        )
    if forms["Bias"].shape not in [(1, each * h) for each in biases]:
        wanted = " or ".join(str([1, each * h]) for each in biases)
        raise ShapeError(f"Bias must have shape {wanted}, got {list(forms['Bias'].shape)}")
    return replace(x, shape=(x.shape[0], h)), h


def check_first(forms: Forms, slot: str, width: int) -> None:
    """Refuse what no sequences can begin with."""
    if slot not in forms:
        return
    ends, first = shapes.integers(forms, "Offsets").shape[0], shapes.matrix(forms, slot)
    if first.shape[1] != width or not (ends == -1 or shapes.agree(first.shape[0], ends - 1)):
        raise ShapeError(
            f"{slot} has a row of {width} numbers for each sequence, not shape {list(first.shape)} "
            f"for {max(ends - 1, -1)} sequences"
        )


def scratch(
    of: str,
    rows: Mapping[str, int],
    sequences: Mapping[str, int],
    factors: Mapping[str, tuple[int, int]],
    gates: int,
) -> Scratch:
    """Arrays with a row for each one in slot ``of``, or for each sequence, as many states wide as is said;
    and room for factors that are as many high and wide. A width of 0 is that of what is remembered."""

    def forms(forms: Forms) -> Mapping[str, Form]:
        length, (kept, wide), dtype = forms[of].shape[0], forms["Weight"].shape, forms[of].dtype
        h, count = wide // gates, forms["Offsets"].shape[0] - 1

        def size(states: int) -> int:
            return states * h or kept

        long = {name: Form((length, size(width)), dtype) for name, width in rows.items()}
        short = {name: Form((count, size(width)), dtype) for name, width in sequences.items()}
        laid_out = {
            name: room_of(count, size(height), size(width), dtype)
            for name, (height, width) in factors.items()
        }
        return long | short | laid_out

    return forms


def with_weight(made: Scratch, of: str) -> Scratch:
    """These arrays, and room for ``weight_gradient`` of as many rows as there are moments of slot ``of``."""

    def forms(forms: Forms) -> Mapping[str, Form]:
        weight = forms["Weight"]
        rows = Form((prod(forms[of].shape[:-1]), weight.shape[0]), weight.dtype)
        room = tiled.room_back(rows, weight)
        return {**made(forms), **{_OF_WEIGHT + name: form for name, form in room.items()}}

    return forms


def weight_gradient(call: Call, former: np.ndarray, dgates: np.ndarray) -> Steps:
    """That of Weight: what was one moment earlier, times the gradient of the gates."""
    target, begin = call["Weight@GRAD"], len(_OF_WEIGHT)
    room = {name[begin:]: each for name, each in call.scratch.items() if name.startswith(_OF_WEIGHT)}
    step = tiled.multiply_back(former, dgates, target, target=target, below=None, room=room)
    yield partial(np.matmul, former.T, dgates, target) if step is None else partial(step, 1.0)


def _in_rows_shape(forms: Forms) -> Mapping[str, Form]:
    shapes.integers(forms, "Offsets")
    return {"Out": shapes.matrix(forms, "X")}


def _in_rows(call: Call) -> Steps:
    time = Timeline(call, len(call["X"]))
    yield time.renew
    yield partial(call["Out"].__setitem__, time.rows, call["X"])


def _in_rows_gradient(call: Call) -> Steps:
    grad = call["Out@GRAD"]
    time = Timeline(call, len(grad))
    yield time.renew
    yield partial(np.take, grad, time.rows, 0, call["X@GRAD"], "clip")


SLOTS = ("X", "Weight", "Bias", "Offsets", "First?")
RUNS = (Runs("Offsets", of="X"),)

ROWS = (
    Row(  # X is laid out in time, as States of an LSTM are: Out has its rows in the order of the sequences
        type="in_rows",
        inputs=("X", "Offsets"),
        attrs={"is_reverse": False},
        shape=_in_rows_shape,
        forward=Kernel(_in_rows),
        gradient=Gradient(_in_rows_gradient, needs=("Offsets",)),
        runs=RUNS,
    ),
)
