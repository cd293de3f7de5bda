"""Operators of ours as the original writes them: what a program is saved with, so that it can be read there.

A walk along sequences becomes a loop over moments, along a rank table (DynamicRNN), or the original's
``recurrent`` (StaticRNN), where a name in the block stands for the element of what has that name outside.
Loops and branches get the variable that the original keeps their scopes in; attributes are written as it
takes them (original_attributes.py).

They must never know a value. Guarantee: what is written computes what was there, in the original and here;
what cannot be written so is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paddle._program.description.block import Block, blocks_of, reads_of
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadProgram
from paddle._program.files.original_attributes import fit


def as_the_original_writes(program: Program) -> None:
    """Change a program, which is the caller's own, to operators of the original."""
    for block in list(program.blocks):
        ops, block.ops = block.ops, []
        for op in ops:
            fit(block, op)
            if op.type in _WRITERS:
                _WRITERS[op.type](block, op)
            else:
                block.ops.append(op)
    program._bump()


def _cost(block: Block, op: Operator) -> None:
    (x,), (label,), (out,) = op.input("X"), op.input("Label"), op.output("Out")
    like = block._var_recursive(out)
    left = block.create_var(f"{out}.minus", shape=like.shape, dtype=like.dtype, lod_level=like.lod_level)
    block.append_op("elementwise_sub", {"X": [x], "Y": [label]}, {"Out": [left]}, {"axis": -1})
    block.append_op("square", {"X": [left]}, {"Out": [out]})


def _of_larger(block: Block, op: Operator) -> None:
    """Y may have more axes than X; the original takes X for Y then."""
    (x, y), (out,) = (block._var_recursive(op.input(slot)[0]) for slot in "XY"), op.output("Out")
    if x.has_shape and y.has_shape and len(x.shape) < len(y.shape):
        traits = {"shape": y.shape, "dtype": x.dtype, "lod_level": y.lod_level}
        zeros, large = (block.create_var(f"{out}.{what}", **traits) for what in ("zeros", "large"))
        block.append_op("fill_zeros_like", {"X": [y]}, {"Out": [zeros]})
        block.append_op("elementwise_add", {"X": [zeros], "Y": [x]}, {"Out": [large]}, dict(op.attrs))
        op.inputs["X"], op.attrs["axis"] = [large.name], -1
    block.ops.append(op)


def _log_softmax(block: Block, op: Operator) -> None:
    """Which fluid has no operator for."""
    (x,), (out,), axis = op.input("X"), op.output("Out"), op.attr("axis")
    told = block._var_recursive(x)

    def made(type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], thin: bool = False) -> str:
        shape = [*told.shape[:axis], 1, *told.shape[axis % len(told.shape) + 1 :]] if thin else told.shape
        name = f"{out}.{type}"
        block.create_var(name, shape=shape, dtype=told.dtype, lod_level=told.lod_level)
        block.append_op(type, {slot: [each] for slot, each in inputs.items()}, {"Out": [name]}, attrs)
        return name

    along = {"dim": [axis % len(told.shape)], "keep_dim": True}
    most = made("reduce_max", {"X": x}, along, True)
    less = made("elementwise_sub", {"X": x, "Y": most}, {"axis": -1})
    whole = made("reduce_sum", {"X": made("exp", {"X": less}, {})}, along, True)
    logs = made("log", {"X": whole}, {}, True)
    block.append_op("elementwise_sub", {"X": [less], "Y": [logs]}, {"Out": [out]}, {"axis": -1})


def _with_scopes(block: Block, op: Operator) -> None:
    """A loop or a branch, which the original does not run without a variable for its scopes, nor without the
    slot of what it reads, where that is nothing."""
    slot, reads = _SCOPES[op.type]
    op.inputs.setdefault(reads, [])
    if not op.outputs.get(slot):
        name = f"{op.type}_{block.idx}_{len(block.ops)}.scopes"
        op.outputs[slot] = [block.create_var(name, type=VarType.STEP_SCOPES).name]
    if op.type == "while":
        op.attrs["is_test"] = True
    block.ops.append(op)


_SCOPES = {"while": ("StepScopes", "X"), "conditional_block": ("Scope", "Input")}

# StaticRNN.


def _recurrent(block: Block, op: Operator) -> None:
    if op.outputs.get("outputs"):  # which was read, and is written as it was
        block.ops.append(op)
        return
    inner: Block = op.attr("sub_block")
    outer = [_named_for_steps(block, inner, name) for name in op.input("Steps")]
    renamed = dict(zip(op.attr("steps"), outer, strict=True))
    _rename(inner, renamed)
    for step, name in renamed.items():
        described = inner.vars.pop(step)
        inner.create_var(name, shape=described.shape, dtype=described.dtype)
    for result, out in zip(op.attr("results"), op.output("Out"), strict=True):
        result = renamed.get(result, result)
        described = inner._var_recursive(result)
        inner.create_var(out, shape=described.shape, dtype=described.dtype)
        inner.append_op("assign", {"X": [result]}, {"Out": [out]})
    own = {*outer, *op.input("Boots")}
    inputs = {
        "inputs": list(dict.fromkeys(outer)),
        "initial_states": op.input("Boots"),
        "parameters": [name for name in op.input("X") if name not in own],
    }
    attrs = {
        "has_states": bool(op.attr("memories")),
        "ex_states": list(op.attr("memories")),
        "states": [renamed.get(name, name) for name in op.attr("nexts")],
        "sub_block": inner,
        "reverse": bool(op.attr("reverse")),
        "is_train": False,
    }
    scopes = block.create_var(f"{op.output('Out')[0]}.scopes", type=VarType.STEP_SCOPES)
    outputs = {"outputs": op.output("Out"), "step_scopes": [scopes.name]}
    block.ops.append(Operator(block, "recurrent", inputs, outputs, attrs))


def _named_for_steps(block: Block, inner: Block, name: str) -> str:
    """A name that the block does not read as a whole, too."""
    if not any(name in reads_of(op) for op in inner.ops):
        return name
    described = block._var_recursive(name)
    twin = block.create_var(f"{name}.steps", shape=described.shape, dtype=described.dtype)
    block.append_op("assign", {"X": [name]}, {"Out": [twin]})
    return twin.name


# DynamicRNN.


@dataclass
class _Loop:
    """What a walk is written with: ``block`` around it, ``inner``, and names that begin with ``prefix``."""

    block: Block
    inner: Block
    prefix: str

    def var(self, what: str, **traits: Any) -> Variable:
        """A variable around the loop."""
        return self.block.create_var(f"{self.prefix}.{what}", **traits)

    def array(self, what: str, like: Variable) -> Variable:
        """A list of tensors around it."""
        return self.var(what, type=VarType.LOD_TENSOR_ARRAY, dtype=like.dtype, shape=like.shape)

    def around(self, type: str, inputs: Any, output: Any, attrs: Mapping[str, Any] | None = None) -> None:
        """Append around the loop, so far before it."""
        self.block.append_op(type, inputs, {"Out": [output]}, attrs)

    def within(self, type: str, inputs: Any, output: Any, attrs: Mapping[str, Any] | None = None) -> None:
        """Append within it."""
        self.inner.append_op(type, inputs, {"Out": [output]}, attrs)


def _walk(block: Block, op: Operator) -> None:
    inner: Block = op.attr("sub_block")
    body, inner.ops = inner.ops, []
    loop = _Loop(block, inner, op.output("Out")[0])
    steps = [block._var_recursive(name) for name in op.input("Steps")]
    _check(op, steps)
    zero, moment = (loop.var(what, shape=[1], dtype=VarType.INT64) for what in ("zero", "moment"))
    for each in (zero, moment):
        number = {"shape": [1], "dtype": int(VarType.INT64), "value": 0.0, "force_cpu": True}
        loop.around("fill_constant", {}, each, number)
    table = loop.var("table", type=VarType.LOD_RANK_TABLE)
    loop.around("lod_rank_table", {"X": [steps[0]]}, table, {"level": 0})
    most = loop.var("most", shape=[1], dtype=VarType.INT64)
    loop.around("max_sequence_len", {"RankTable": [table]}, most)
    goes_on = loop.var("goes_on", shape=[1], dtype=VarType.BOOL)
    less = {"X": [moment], "Y": [most]}, goes_on, {"axis": -1, "force_cpu": True}
    loop.around("less_than", *less)
    moments = _steps(loop, op, steps, table, moment)
    _statics(loop, op, body, table, moment)
    arrays = _memories(loop, op, moments[0], table, (zero, moment))
    inner.ops += body
    outs = [loop.array(f"out_{at}", inner._var_recursive(name)) for at, name in enumerate(op.attr("results"))]
    for name, array in zip(op.attr("results"), outs, strict=True):
        loop.within("write_to_array", {"X": [name], "I": [moment]}, array)
    loop.within("increment", {"X": [moment]}, moment, {"step": 1.0})
    for name, array in zip(op.attr("nexts"), arrays, strict=True):
        loop.within("write_to_array", {"X": [name], "I": [moment]}, array)
    loop.within("less_than", *less)
    _go_round(loop, goes_on, [moment, goes_on, *outs, *arrays])
    for array, out in zip(outs, op.output("Out"), strict=True):
        loop.around("array_to_lod_tensor", {"X": [array], "RankTable": [table]}, out)


def _check(op: Operator, steps: list[Variable]) -> None:
    if any(each.lod_level != 1 for each in steps) or op.attr("reverse"):
        raise BadProgram(
            "save_inference_model: a DynamicRNN over sequences of sequences is not written in operators of "
            f"the original in this release (written at {op.where}): walk along the inner sequences, or keep "
            "the values alone, save_params, and build the network where it is used"
        )


def _steps(
    loop: _Loop, op: Operator, steps: list[Variable], table: Variable, moment: Variable
) -> list[Variable]:
    arrays = []
    for at, (name, source) in enumerate(zip(op.attr("steps"), steps, strict=True)):
        arrays.append(array := loop.array(f"step_{at}", source))
        loop.around("lod_tensor_to_array", {"X": [source], "RankTable": [table]}, array)
        loop.within("read_from_array", {"X": [array], "I": [moment]}, name)
    return arrays


def _statics(loop: _Loop, op: Operator, body: list[Operator], table: Variable, moment: Variable) -> None:
    """What a sequence has at all moments, and what else has a row for each."""
    found = dict(zip(op.attr("statics"), op.input("Statics"), strict=True))
    for name in op.input("X"):
        described = loop.block._var_recursive(name)
        if not described.persistable and described.shape[:1] == (-1,):
            found[f"{loop.prefix}.{name}"] = name
    renamed = {}
    for at, (name, source) in enumerate(found.items()):
        described = loop.block._var_recursive(source)
        if described.shape[:1] != (-1,) and not described.lod_level:
            renamed[name] = source  # one for all
            continue
        traits = {"shape": described.shape, "dtype": described.dtype, "lod_level": described.lod_level}
        if name not in loop.inner.vars:
            renamed[source] = loop.inner.create_var(name, **traits).name
        ranked = loop.var(f"static_{at}", **traits)
        loop.around("reorder_lod_tensor_by_rank", {"X": [source], "RankTable": [table]}, ranked)
        loop.within("shrink_rnn_memory", {"X": [ranked], "I": [moment], "RankTable": [table]}, name)
    for each in body:
        _rename_op(each, renamed)


def _memories(
    loop: _Loop, op: Operator, first: Variable, table: Variable, numbers: tuple[Variable, Variable]
) -> list[Variable]:
    zero, moment = numbers
    arrays = []
    told = zip(op.attr("memories"), op.attr("boots"), op.attr("starts"), strict=True)
    for at, (name, boot, start) in enumerate(told):
        described = loop.inner._var_recursive(name)
        traits = {"shape": described.shape, "dtype": described.dtype}
        begin = loop.var(f"begin_{at}", **traits)
        if boot and name in op.attr("ranked"):
            begin = loop.block._var_recursive(boot)
        elif boot:
            loop.around("reorder_lod_tensor_by_rank", {"X": [boot], "RankTable": [table]}, begin)
        else:
            rows = loop.var(f"rows_{at}", shape=(-1, *first.shape[1:]), dtype=first.dtype)
            loop.around("read_from_array", {"X": [first], "I": [zero]}, rows)
            like = {"shape": [-1, *described.shape[1:]], "value": float(start), "dtype": int(described.dtype)}
            axes = {"input_dim_idx": 0, "output_dim_idx": 0}
            loop.around("fill_constant_batch_size_like", {"Input": [rows]}, begin, {**like, **axes})
        arrays.append(array := loop.array(f"memory_{at}", described))
        loop.around("write_to_array", {"X": [begin], "I": [zero]}, array)
        whole = loop.inner.create_var(f"{name}.whole", **traits)
        loop.within("read_from_array", {"X": [array], "I": [moment]}, whole)
        loop.within("shrink_rnn_memory", {"X": [whole], "I": [moment], "RankTable": [table]}, name)
    return arrays


def _go_round(loop: _Loop, condition: Variable, changed: list[Variable]) -> None:
    outside = dict.fromkeys(
        name for op in loop.inner.ops for name in reads_of(op) if name not in loop.inner.vars
    )
    scopes = loop.var("scopes", type=VarType.STEP_SCOPES)
    loop.block.append_op(
        "while",
        {"X": list(outside), "Condition": [condition]},
        {"Out": changed, "StepScopes": [scopes]},
        {"sub_block": loop.inner, "is_test": True},
    )


def _rename(block: Block, names: Mapping[str, str]) -> None:
    for op in block.ops:
        _rename_op(op, names)


def _rename_op(op: Operator, names: Mapping[str, str]) -> None:
    for old, new in names.items():
        op._rename_input(old, new)
        op._rename_output(old, new)
    for block in blocks_of(op):
        _rename(block, names)


_WRITERS = {
    "dynamic_recurrent": _walk,
    "recurrent": _recurrent,
    "square_error_cost": _cost,
    "log_softmax": _log_softmax,
    **dict.fromkeys(["elementwise_floordiv", "elementwise_mod", "elementwise_pow"], _of_larger),
    **dict.fromkeys(_SCOPES, _with_scopes),
}
