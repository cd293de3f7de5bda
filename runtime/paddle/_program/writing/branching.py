"""Blocks within a program: loops, and branches that have an effect only if their condition holds.

Both faces write with these. They must never know how a block is computed (ops/control.py). Guarantee: after a
block that was written with an error, the one around it is being written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from paddle._program.description.block import Block, reads_of
from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper


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
    loop_vars: Sequence[Variable],
    is_test: bool = False,
    name: str | None = None,
) -> list[Variable]:
    """Calls ``body`` on ``loop_vars`` while ``cond`` of them holds; both are written once, as a program."""
    condition = cond(*loop_vars)
    loop = While(condition, is_test, name)
    with loop.block():
        made = body(*loop_vars)
        several = list(made) if isinstance(made, list | tuple) else [made]
        for source, target in zip(several, loop_vars, strict=True):
            if source is not target:
                _assign(source, target)
        _assign(cond(*loop_vars), condition)
    return list(loop_vars)


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
) -> Any:
    """What ``true_fn()`` gives if ``pred``, one bool, holds, and ``false_fn()`` if not: a variable, several,
    or none; as many, of the same shapes."""
    helper = LayerHelper("cond", name=name)
    made: list[Variable] | None = None
    shape: Any = None
    for condition, function in ((pred, true_fn), (_negated(helper, pred), false_fn)):
        if function is None:
            continue
        with ConditionalBlock([condition], is_scalar_condition=True).block():
            shape = function()
            found = _listed(shape)
            if made is None:
                made = [_outside(helper, each) for each in found]
            if len(found) != len(made):
                raise BadArgument(f"the functions of cond give {len(made)} and {len(found)} variables")
            for source, target in zip(found, made, strict=True):
                _assign(source, target)
    if made and (true_fn is None or false_fn is None):
        raise BadArgument(
            "cond: one function gives something, and the other, which is None, nothing: tell both"
        )
    if not made:
        return None
    return made if isinstance(shape, list | tuple) else made[0]


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
    """What the function of that number gives; of none such, ``default``, or else the last."""
    if isinstance(branch_fns, Mapping):
        branch_fns = sorted(branch_fns.items())
    elif isinstance(branch_fns, list | tuple):
        branch_fns = [each if isinstance(each, tuple) else (at, each) for at, each in enumerate(branch_fns)]
    pairs = _pairs("switch_case: branch_fns", int, branch_fns)
    helper = LayerHelper("switch_case", name=name)
    return case([(_is_number(helper, branch_index, at), function) for at, function in pairs], default, name)


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


def _listed(given: Any) -> list[Variable]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple) else [given]


def _assign(source: Variable, target: Variable) -> None:
    """Have ``target`` be what ``source`` is."""
    LayerHelper("assign").append_op("assign", {"X": [source]}, {"Out": [target]})
