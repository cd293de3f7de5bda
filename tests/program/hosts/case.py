"""An operator that is computed on the host, what it is given, and what numpy and PyTorch make of the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.lowering.op_rows import is_lowered, row

Slots = Mapping[str, Any]
Twin = Callable[..., Any]


def one_of(given: Mapping[str, Any], name: str) -> Any:
    """What is in a slot, or at a place of its list."""
    slot, _, at = name.partition(".")
    return given[slot][int(at or 0)] if isinstance(given[slot], list) else given[slot]


def _with(arrays: Mapping[str, Any], name: str, other: np.ndarray) -> dict[str, Any]:
    slot, _, at = name.partition(".")
    if not at:
        return {**arrays, slot: other}
    return {**arrays, slot: [other if place == int(at) else each for place, each in enumerate(arrays[slot])]}


@dataclass(frozen=True)
class Case:
    """``inputs``: by slot an array, or a list of them. ``numpy``: of these, in their order, what is in
    ``outputs``; of several a tuple. ``torch``: the same of PyTorch itself and tensors, or why it has no such
    thing. ``of``: slots that have gradients, the second of a list being ``X.1``; None: all floats that are no
    list, '': none. ``is_open``: a program learns sizes from what it is fed. ``is_turned``: signs are free."""

    type: str
    inputs: Slots
    numpy: Twin
    torch: Twin | str
    outputs: str = "Out"
    told: Mapping[str, Any] = field(default_factory=dict)
    of: str | None = None
    is_open: bool = False
    is_turned: bool = False
    is_lowered: ClassVar[bool] = False

    def __str__(self) -> str:
        told = ",".join(f"{name}={value}" for name, value in self.told.items())
        return f"{self.type}({told})".replace(" ", "")

    @property
    def learns(self) -> list[str]:
        """The slots that gradients are asked of; none where none goes back."""
        if self.of is not None or row(self.type).back is None:
            return (self.of or "").split()
        floats = (slot for slot, value in self.inputs.items() if not isinstance(value, list))
        return [slot for slot in floats if self.inputs[slot].dtype.kind == "f"]

    def arrays(self, kind: type = np.float64) -> dict[str, Any]:
        """What is given, floats rounded to what a program is fed, as ``kind``."""

        def told(value: np.ndarray) -> np.ndarray:
            return value.astype(np.float32).astype(kind) if value.dtype.kind == "f" else value

        return {
            slot: [told(each) for each in value] if isinstance(value, list) else told(value)
            for slot, value in self.inputs.items()
        }

    def expected(self, arrays: Mapping[str, Any] | None = None) -> list[np.ndarray]:
        """What numpy says, one for each output."""
        found = self.numpy(*(self.arrays() if arrays is None else arrays).values())
        return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]

    def came(self) -> np.ndarray:
        """The gradient of the first output."""
        shape = self.expected()[0].shape
        return np.random.default_rng(3).uniform(0.5, 1.5, shape).astype(np.float32)

    def slope(self, slot: str) -> np.ndarray:
        """By central differences of what numpy says."""
        came, arrays = self.came().astype(np.float64), self.arrays()
        value, step = one_of(arrays, slot), 1e-5
        found = np.zeros_like(value)
        for at in np.ndindex(value.shape):
            sides = []
            for moved in (step, -step):
                other = value.copy()
                other[at] += moved
                sides.append(float((self.expected(_with(arrays, slot, other))[0] * came).sum()))
            found[at] = (sides[0] - sides[1]) / (2 * step)
        return found

    def ran(self) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
        """What a program gives that holds nothing but the operator: its outputs, and gradients by slot."""
        with fresh(is_static=True), fluid.scope_guard(fluid.Scope()):
            feed: dict[str, np.ndarray] = {}
            fed = {slot: self._fed(feed, value) for slot, value in self.arrays(np.float32).items()}
            block = fluid.default_main_program().global_block()
            outs = [block.create_var(name=f"out{at}") for at, _ in enumerate(self.outputs.split())]
            given = {slot: [each] for slot, each in zip(self.outputs.split(), outs, strict=True)}
            op = block.append_op(self.type, fed, given, dict(self.told))
            assert is_lowered(op) == self.is_lowered, f"{self} is not computed where it is said"
            slopes = []
            if self.learns:
                came = self._fed(feed, self.came())
                slopes = fluid.gradients([outs[0]], [one_of(fed, slot) for slot in self.learns], came)
            found = fluid.Executor().run(feed=feed, fetch_list=[*outs, *slopes])
            values = [np.asarray(each) for each in found]
            for out, value in zip(outs, values, strict=False):
                said = fluid.data_feeder.convert_dtype(out.dtype), len(out.shape)
                assert said == (value.dtype.name, value.ndim), f"{self}: {out.name} is declared otherwise"
                assert all(size in (-1, own) for size, own in zip(out.shape, value.shape, strict=True))
            return values[: len(outs)], dict(zip(self.learns, values[len(outs) :], strict=True))

    def _fed(self, feed: dict[str, np.ndarray], value: Any) -> list[Any]:
        made = []
        for each in value if isinstance(value, list) else [value]:
            shape = [-1] * each.ndim if self.is_open else list(each.shape)
            name = f"x{len(feed)}"
            feed[name] = each
            made.append(fluid.data(name, shape, str(each.dtype)))
            made[-1].stop_gradient = each.dtype.kind != "f"
        return made
