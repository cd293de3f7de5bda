"""Blocks within a program: loops, and branches that have an effect only if their condition holds.

Both faces write with these. They must never know how a block is computed (ops/control.py). Guarantee: after a
block that was written with an error, the one around it is being written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from math import prod
from typing import Any

from paddle._program.description.block import Block, reads_of
from paddle._program.description.dtypes import VarType, is_float
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.nests import assert_same_structure, flatten, pack_sequence_as


def touched(block: Block) -> tuple[list[str], list[str]]:
    """What operators of a block read, and write, of the outside."""
    reads = dict.fromkeys(n for op in block.ops for n in reads_of(op) if n not in block.vars)
    writes = dict.fromkeys(n for op in block.ops for n in op.output_arg_names if n not in block.vars)
    return list(reads), list(writes)


@contextmanager
def writing(helper: LayerHelper) -> Iterator[Block]:
    """Write a block within the one that is being written."""
    program = helper.main_program
    block = program._create_block()
    try:
        yield block
    finally:
        program._rollback()


class While:
    """Goes round while ``cond``, one bool, holds: ``with loop.block(): ...``, which sets it anew at its end,
    as by ``less_than(i, n, cond=cond)``. Gradients go back through what each turn has done."""

    def __init__(self, cond: Variable, is_test: bool = False, name: str | None = None) -> None:
        self.helper = LayerHelper("while", name=name)
        if not isinstance(cond, Variable) or cond.dtype != VarType.BOOL:
            raise BadArgument(f"While takes a bool Variable, such as less_than(x, y), not {cond!r}")
        if prod(cond.shape) not in (1, -1):
            raise BadArgument(f"While takes one bool, and {cond.name!r} has shape {tuple(cond.shape)}")
        self.cond_var, self.is_test = cond, is_test

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is done each time."""
        with writing(self.helper) as inner:
            yield
        reads, writes = touched(inner)
        if self.cond_var.name not in writes:
            raise BadArgument(
                f"the block of While never sets its condition {self.cond_var.name!r}, so it would not end: "
                "compute it anew at the end of the block, as by less_than(i, n, cond=cond)"
            )
        self.helper.append_op(
            "while",
            inputs={"X": reads, "Condition": [self.cond_var]},
            outputs={"Out": writes},
            attrs={"sub_block": inner, "is_test": self.is_test},
        )


def while_loop(
    cond: Callable[..., Variable],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    is_test: bool = False,
    name: str | None = None,
) -> Sequence[Any]:
    """Calls ``body`` on ``loop_vars`` while ``cond`` of them holds; both are written once, as a program.
    These are Variables, or lists, tuples and dicts of such."""
    for what, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise BadArgument(f"while_loop: {what} is a function of loop_vars, not {function!r:.60}")
    if not isinstance(loop_vars, list | tuple) or not loop_vars:
        raise BadArgument(
            f"while_loop: loop_vars is a list of Variables, one at least, not {loop_vars!r:.60}"
        )
    condition = cond(*loop_vars)
    if not isinstance(condition, Variable) or prod(condition.shape) not in (1, -1):
        raise BadArgument(
            f"while_loop: cond gives one bool, a Variable of the program, not {condition!r:.60}"
        )
    loop, targets = While(condition, is_test, name), flatten(loop_vars)
    with loop.block():
        made = body(*pack_sequence_as(loop_vars, targets))
        several = list(made) if isinstance(made, list | tuple) else [made]
        sources = _alike("while_loop: body gives other than it takes", several, loop_vars)
        sources = [_as_it_was(source, at, targets) for at, source in enumerate(sources)]
        for source, target in zip(sources, targets, strict=True):
            if source is not target:
                _assign(source, target)
        _assign(cond(*loop_vars), condition)
    return loop_vars


def _alike(complaint: str, given: Any, wanted: Any) -> list[Variable]:
    """The Variables that are given, nested as others are."""
    try:
        assert_same_structure(given, wanted, check_types=False)
    except ValueError as error:
        raise BadArgument(f"{complaint}: {error}") from error
    found = flatten(given)
    for each in found:
        if not isinstance(each, Variable):
            raise BadArgument(f"{complaint}: Variables of the program are, and {each!r:.60} is not one")
    return found


def _as_it_was(source: Variable, at: int, targets: Sequence[Variable]) -> Variable:
    """A loop variable that is given in the place of another one: as it is before all are set."""
    if source is targets[at] or not any(source is each for each in targets):
        return source
    helper = LayerHelper("assign")
    made = helper.create_variable_for_type_inference(source.dtype)
    _assign(source, made)
    return made


class ConditionalBlock:
    """A block that has its effect only if its conditions hold: ``with branch.block(): ...``."""

    def __init__(
        self, inputs: Sequence[Variable], is_scalar_condition: bool = False, name: str | None = None
    ) -> None:
        self.helper = LayerHelper("conditional_block", name=name)
        self.inputs, self.is_scalar_condition = list(inputs), is_scalar_condition

    @contextmanager
    def block(self) -> Iterator[None]:
        """What is done then."""
        with writing(self.helper) as inner:
            yield
        reads, writes = touched(inner)
        self.helper.append_op(
            "conditional_block",
            inputs={"Cond": self.inputs, "Input": reads},
            outputs={"Out": writes},
            attrs={"sub_block": inner, "is_scalar_condition": self.is_scalar_condition},
        )


def cond(
    pred: Variable,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """What ``true_fn()`` gives if ``pred``, one bool, holds, and ``false_fn()`` if not: nothing, or Variables
    alone or nested alike. Each has the sizes and the dtype of the one that was taken."""
    for what, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is not None and not callable(function):
            raise BadArgument(f"cond: {what} is a function without arguments, not {function!r:.60}")
    helper = LayerHelper("cond", name=name)
    yes = no = None
    made: list[Variable] = []
    if true_fn is not None:
        with ConditionalBlock([pred], is_scalar_condition=True).block():
            yes = true_fn()
            for each in [] if yes is None else _alike("cond: true_fn gives no Variables", yes, yes):
                made.append(_outside(helper, each))
                _assign(each, made[-1])
    if false_fn is not None:
        with ConditionalBlock([_negated(helper, pred)], is_scalar_condition=True).block():
            no = false_fn()
            both = yes is not None and no is not None
            found = _alike("cond: false_fn gives other than true_fn", no, yes) if both else []
            for each, out in zip(found, made, strict=False):
                _assign_either(each, out)
    if (yes is None) != (no is None):
        which = "false_fn" if yes is None else "true_fn"
        raise BadArgument(
            f"cond: {which} gives something, and the other function nothing: have both give as much"
        )
    return None if no is None else pack_sequence_as(no, made)


def case(
    pred_fn_pairs: Sequence[tuple[Variable, Callable[[], Any]]],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of the first pair gives whose bool holds; if none does, ``default``, or else the
    last."""
    (pred, function), *rest = _pairs("case: pred_fn_pairs", Variable, pred_fn_pairs)
    if not rest:
        return function() if default is None else cond(pred, function, default, name)
    return cond(pred, function, lambda: case(rest, default, name), name)


def _pairs(place: str, kind: type, given: Any) -> list[tuple[Any, Callable[[], Any]]]:
    """What says when each function is taken, and it."""
    whens = "a bool Variable" if kind is Variable else "a whole number"
    if not isinstance(given, list | tuple) or not given:
        raise BadArgument(f"{place} is a list of pairs ({whens}, a function), not {given!r:.60}")
    for each in given:
        is_pair = isinstance(each, list | tuple) and len(each) == 2
        if not is_pair or not isinstance(each[0], kind) or not callable(each[1]):
            raise BadArgument(f"{place} holds pairs ({whens}, a function), not {each!r:.60}")
    return list(given)


def switch_case(
    branch_index: Variable,
    branch_fns: Mapping[int, Callable[[], Any]] | Sequence[Any],
    default: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What the function of that number gives; of none such, ``default``, or else that of the highest. As
    upstream the last is written first, so that what they make has the same names."""
    if isinstance(branch_fns, Mapping):
        branch_fns = list(branch_fns.items())
    elif isinstance(branch_fns, list | tuple):
        branch_fns = [each if isinstance(each, tuple) else (at, each) for at, each in enumerate(branch_fns)]
    told = _pairs("switch_case: branch_fns", int, branch_fns)
    pairs = sorted(told, key=lambda pair: pair[0])
    if twice := [number for (number, _), (other, _) in pairwise(pairs) if number == other]:
        raise BadArgument(f"switch_case: branch_fns has two functions for {twice[0]}: keep one")
    if default is None:
        *told, (_, default) = pairs
    helper = LayerHelper("switch_case", name=name)
    taken = [(_is_number(helper, branch_index, at), function) for at, function in told]
    return case(taken[::-1], default, name) if taken else default()


def _is_number(helper: LayerHelper, index: Variable, number: int) -> Variable:
    wanted = helper.create_variable_for_type_inference(index.dtype, stop_gradient=True)
    attrs = {"shape": [1], "value": number, "dtype": int(index.dtype)}
    helper.append_op("fill_constant", outputs={"Out": [wanted]}, attrs=attrs)
    out = helper.create_variable_for_type_inference("bool", stop_gradient=True)
    helper.append_op("equal", {"X": [index], "Y": [wanted]}, {"Out": [out]})
    return out


def _negated(helper: LayerHelper, condition: Variable) -> Variable:
    out = helper.create_variable_for_type_inference("bool", stop_gradient=True)
    helper.append_op("logical_not", {"X": [condition]}, {"Out": [out]})
    return out


def _outside(helper: LayerHelper, like: Variable) -> Variable:
    """A variable of the block around the one that is being written."""
    from paddle._program.description import unique_name

    around = helper.block.parent
    assert around is not None
    name = unique_name.generate(f"{helper.name}.out")
    traits = {"shape": like.shape, "dtype": like.dtype, "lod_level": like.lod_level}
    return around.create_var(name, stop_gradient=like.stop_gradient, **traits)


def _assign_either(source: Variable, target: Variable) -> None:
    """Have ``target`` be what ``source`` is, or what it was made to be where the other branch is taken. Sizes
    that differ are open; of other dtypes, or numbers of axes, this one's are declared, as upstream, but where
    the other's numbers would be cut to whole ones."""
    other, stopped = tuple(target.shape), target.stop_gradient and source.stop_gradient
    shape = own = tuple(source.shape)
    if len(own) == len(other):
        shape = tuple(size if size == its else -1 for size, its in zip(own, other, strict=True))
    dtype = target.dtype if is_float(target.dtype) and not is_float(source.dtype) else source.dtype
    _assign(source, target)
    target.shape, target.dtype, target.stop_gradient = shape, dtype, stopped


def _assign(source: Variable, target: Variable) -> None:
    """Have ``target`` be what ``source`` is."""
    LayerHelper("assign").append_op("assign", {"X": [source]}, {"Out": [target]})
