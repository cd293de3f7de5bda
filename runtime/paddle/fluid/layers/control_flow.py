"""Layers of control flow: loops, branches, arrays of tensors, and what is shown on the way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.branching import ConditionalBlock, While, case, cond, switch_case, while_loop
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import of_layers

__all__ = [
    "ConditionalBlock",
    "IfElse",
    "Print",
    "Switch",
    "While",
    "array_length",
    "array_read",
    "array_write",
    "case",
    "cond",
    "create_array",
    "is_empty",
    "merge_lod_tensor",
    "split_lod_tensor",
    "switch_case",
    "tensor_array_to_tensor",
    "while_loop",
]


class Switch:
    """The first case whose condition holds: ``with switch.case(cond): ...``, ``with switch.default(): ..``"""

    def __init__(self, name: str | None = None) -> None:
        self.helper = LayerHelper("switch", name=name)
        self._none_before: Variable | None = None

    def __enter__(self) -> Switch:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    @contextmanager
    def case(self, condition: Variable) -> Iterator[None]:
        """What is done if this holds, and no condition before it."""
        if not isinstance(condition, Variable) or condition.dtype != VarType.BOOL:
            raise BadArgument(f"Switch.case takes a bool Variable, as of less_than(x, y), not {condition!r}")
        negated = self._op("logical_not", condition)
        taken = condition
        if self._none_before is not None:
            taken = self._op("logical_and", self._none_before, condition)
            negated = self._op("logical_and", self._none_before, negated)
        self._none_before = negated
        with ConditionalBlock([taken], is_scalar_condition=True).block():
            yield

    @contextmanager
    def default(self) -> Iterator[None]:
        """What is done if no condition holds."""
        if self._none_before is None:
            raise BadArgument("Switch.default() comes after a case")
        with ConditionalBlock([self._none_before], is_scalar_condition=True).block():
            yield

    def _op(self, type: str, x: Variable, y: Variable | None = None) -> Variable:
        out = self.helper.create_variable_for_type_inference("bool", stop_gradient=True)
        inputs = {"X": [x]} if y is None else {"X": [x], "Y": [y]}
        self.helper.append_op(type, inputs=inputs, outputs={"Out": [out]})
        return out


class IfElse:
    """Rows for which ``cond``, a column of bools, holds go one way, all others another; what both ways give
    for theirs comes together in the order in which they were."""

    def __init__(self, cond: Variable, name: str | None = None) -> None:
        self.helper = LayerHelper("ifelse", name=name)
        self.cond = cond
        self._ways: dict[bool, list[Variable]] = {True: [], False: []}
        self._way: bool | None = None
        self._parted: dict[str, dict[bool, Variable]] = {}

    def input(self, x: Variable) -> Variable:
        """The rows of ``x`` that go this way."""
        self._check("input")
        if x.name not in self._parted:
            sides = {way: self.helper.create_variable_for_type_inference(x.dtype) for way in (True, False)}
            outputs = {"OutTrue": [sides[True]], "OutFalse": [sides[False]]}
            self.helper.append_op("split_lod_tensor", {"X": [x], "Mask": [self.cond]}, outputs)
            self._parted[x.name] = sides
        return self._parted[x.name][bool(self._way)]

    def output(self, *outs: Variable) -> None:
        """Say what a way gives."""
        self._check("output")
        self._ways[bool(self._way)] += outs

    @contextmanager
    def _taking(self, way: bool) -> Iterator[None]:
        self._way = way
        yield
        self._way = None
        if not self._ways[way]:
            raise BadArgument("a block of IfElse gives something: call output(...) in it")

    def true_block(self) -> Any:
        """What is done with rows for which it holds."""
        return self._taking(True)

    def false_block(self) -> Any:
        """What is done with all others."""
        return self._taking(False)

    def __call__(self) -> list[Variable]:
        """What both ways give, row by row."""
        yes, no = self._ways[True], self._ways[False]
        if not yes or not no:
            return yes or no
        if len(yes) != len(no):
            raise BadArgument(f"the blocks of IfElse give {len(yes)} and {len(no)} outputs: as many, please")
        found = []
        for one, other in zip(yes, no, strict=True):
            out = LayerHelper("merge_lod_tensor").create_variable_for_type_inference(one.dtype)
            inputs = {"X": [one], "Mask": [self.cond], "InTrue": [one], "InFalse": [other]}
            self.helper.append_op("merge_lod_tensor", inputs=inputs, outputs={"Out": [out]})
            found.append(out)
        return found

    def _check(self, what: str) -> None:
        if self._way is None:
            raise BadArgument(f"IfElse.{what}() is called in true_block() or false_block()")


def split_lod_tensor(input: Variable, mask: Variable, level: int = 0) -> tuple[Variable, Variable]:
    """The rows, or sequences, for which ``mask``, a column of bools, holds, and all others."""
    helper = LayerHelper("split_lod_tensor")
    yes, no = (helper.create_variable_for_type_inference(input.dtype) for _ in range(2))
    outputs = {"OutTrue": [yes], "OutFalse": [no]}
    helper.append_op("split_lod_tensor", {"X": [input], "Mask": [mask]}, outputs, {"level": level})
    return yes, no


def merge_lod_tensor(
    in_true: Variable, in_false: Variable, x: Variable, mask: Variable, level: int = 0
) -> Variable:
    """The rows that ``split_lod_tensor`` parted, or what was made of them, as those of ``x`` stood."""
    helper = LayerHelper("merge_lod_tensor")
    out = helper.create_variable_for_type_inference(in_true.dtype)
    inputs = {"X": [x], "Mask": [mask], "InTrue": [in_true], "InFalse": [in_false]}
    helper.append_op("merge_lod_tensor", inputs, {"Out": [out]}, {"level": level})
    return out


def create_array(dtype: Any) -> Variable:
    """An array of tensors, empty."""
    return _array(LayerHelper("array"), dtype)


def _array(helper: LayerHelper, dtype: Any) -> Variable:
    return helper.create_variable(f"{helper.name}.out", type=VarType.LOD_TENSOR_ARRAY, dtype=dtype)


def array_write(x: Variable, i: Variable, array: Variable | None = None) -> Variable:
    """Set element ``i`` of an array, a new one if None, which grows as far as that."""
    helper = LayerHelper("array_write")
    array = _array(helper, x.dtype) if array is None else array
    helper.append_op("write_to_array", {"X": [x], "I": [i]}, {"Out": [array]})
    return array


def array_read(array: Variable, i: Variable) -> Variable:
    """Element ``i`` of an array."""
    helper = LayerHelper("array_read")
    if array.type != VarType.LOD_TENSOR_ARRAY:
        raise BadArgument(f"array_read takes an array, as create_array gives, not {array.name!r}")
    out = helper.create_variable_for_type_inference(array.dtype)
    helper.append_op("read_from_array", {"X": [array], "I": [i]}, {"Out": [out]})
    return out


def array_length(array: Variable) -> Variable:
    """How many elements an array has."""
    helper = LayerHelper("array_length")
    out = helper.create_variable_for_type_inference("int64", stop_gradient=True)
    helper.append_op("lod_array_length", {"X": [array]}, {"Out": [out]})
    return out


def tensor_array_to_tensor(
    input: Variable, axis: int = 1, name: str | None = None, use_stack: bool = False
) -> tuple[Variable, Variable]:
    """The elements of an array one after another along ``axis``, or stacked there, and the size of each."""
    helper = LayerHelper("tensor_array_to_tensor", name=name)
    out = helper.create_variable_for_type_inference(input.dtype)
    sizes = helper.create_variable_for_type_inference("int32", stop_gradient=True)
    attrs = {"axis": axis, "use_stack": use_stack}
    helper.append_op("tensor_array_to_tensor", {"X": [input]}, {"Out": [out], "OutIndex": [sizes]}, attrs)
    return out, sizes


def is_empty(x: Variable, name: str | None = None, cond: Variable | None = None) -> Variable:
    """Whether ``x`` has no element."""
    helper = LayerHelper("is_empty", name=name)
    out = helper.create_variable_for_type_inference("bool", stop_gradient=True) if cond is None else cond
    helper.append_op("is_empty", {"X": [x]}, {"Out": [out]})
    return out


def Print(  # noqa: N802  Paddle's name
    input: Variable,
    first_n: int = -1,
    message: str | None = None,
    summarize: int = 20,
    print_tensor_name: bool = True,
    print_tensor_type: bool = True,
    print_tensor_shape: bool = True,
    print_tensor_layout: bool = True,
    print_tensor_lod: bool | str = True,
    print_phase: str = "both",
) -> Variable:
    """The same value, which is shown when a run has computed it, the first ``first_n`` times if that is not
    negative, and of it ``summarize`` elements. Before 2.0 there is no ``print_tensor_layout`` among arguments
    that are given by their place."""
    if isinstance(print_tensor_lod, str):
        print_tensor_lod, print_phase = print_tensor_layout, print_tensor_lod
    helper = LayerHelper(f"print_{input.name}", input=input)
    out = helper.create_variable_for_type_inference(input.dtype)
    attrs = {
        "first_n": first_n,
        "message": message or "",
        "summarize": summarize,
        "print_tensor_name": print_tensor_name,
        "print_tensor_type": print_tensor_type,
        "print_tensor_shape": print_tensor_shape,
        "print_tensor_lod": print_tensor_lod,
        "print_phase": print_phase.upper(),
    }
    helper.append_op("print", {"In": [input]}, {"Out": [out]}, attrs)
    return out


__getattr__ = of_layers(__name__)
