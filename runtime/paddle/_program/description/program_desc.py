"""Program desc: a program as the original's message ProgramDesc, and back; bytes and text of it.

It must never know how a program is run. Guarantee: ``parsed(serialized(p))`` has the blocks, variables and
operators of p, with all that the original keeps of them; what it does not keep (who may be trained, in 1.x;
which line wrote an operator) is not there. Bytes that are no program are a BadProgram that says why, and
nothing is made of them. A name that begins with an underscore is an attribute of ours, and not written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._engine.protobuf import DecodeError
from paddle._program.description.attributes import SubBlock, message_of, value_of
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.framework_proto import (
    AttrProto,
    BlockDescProto,
    LoDTensorDescProto,
    OpDescProto,
    OpVarProto,
    ProgramDescProto,
    ReaderDescProto,
    TensorDescProto,
    VarDescProto,
    VarTypeProto,
    VersionProto,
)
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadProgram
from paddle._program.lowering.op_rows import completed, has_row

_WITH_LEVELS = {VarType.LOD_TENSOR: "lod_tensor", VarType.LOD_TENSOR_ARRAY: "tensor_array"}
_KNOWN = frozenset(VarType)
_MOST_BLOCKS = 1 << 16


def serialized(program: Program) -> bytes:
    """``program.desc.serialize_to_string()``."""
    return message(program).SerializeToString()


def text(program: Program) -> str:
    """``str(program)``: the text form of the message; what no message can hold is said in its place."""
    return f"{message(program, is_lenient=True)}\n"


def message(program: Program, is_lenient: bool = False) -> ProgramDescProto:
    """The message of a program. Raises TypeError where an attribute is what no message holds."""
    return ProgramDescProto(
        blocks=[block_message(block, is_lenient) for block in program.blocks], version=VersionProto(version=0)
    )


def block_message(block: Block, is_lenient: bool = False) -> BlockDescProto:
    """The message of one block."""
    made = BlockDescProto(
        idx=block.idx,
        parent_idx=block.parent_idx,
        vars=[variable_message(variable) for variable in block.vars.values()],
        ops=[operator_message(op, is_lenient) for op in block.ops],
    )
    if block.forward_block_idx >= 0:
        made.forward_block_idx = block.forward_block_idx
    return made


def variable_message(variable: Variable) -> VarDescProto:
    """The message of one variable."""
    kind = VarTypeProto(type=variable.type)
    tensor = TensorDescProto(data_type=variable.dtype, dims=variable.shape)
    if variable.type in _WITH_LEVELS:
        described = LoDTensorDescProto(tensor=tensor, lod_level=variable.lod_level)
        setattr(kind, _WITH_LEVELS[variable.type], described)
    elif variable.type is VarType.SELECTED_ROWS:
        kind.selected_rows = tensor
    elif variable.type is VarType.READER:
        kind.reader = ReaderDescProto()
    made = VarDescProto(name=variable.name, type=kind, persistable=variable.persistable)
    if variable.need_check_feed:
        made.need_check_feed = True
    if isinstance(variable, Parameter):
        made.is_parameter = True
    if variable.stop_gradient:
        made.stop_gradient = True
    return made


def operator_message(op: Operator, is_lenient: bool = False) -> OpDescProto:
    """The message of one operator."""
    attributes = [
        _attribute(op.type, name, value, is_lenient)
        for name, value in sorted(op.attrs.items())
        if not name.startswith("_") and value is not None
    ]
    return OpDescProto(type=op.type, inputs=_slots(op.inputs), outputs=_slots(op.outputs), attrs=attributes)


def _slots(slots: Mapping[str, list[str]]) -> list[OpVarProto]:
    return [OpVarProto(parameter=slot, arguments=names) for slot, names in sorted(slots.items())]


def _attribute(op: str, name: str, value: Any, is_lenient: bool) -> AttrProto:
    try:
        return message_of(op, name, _numbered(value))
    except TypeError:
        if is_lenient:
            return message_of(op, name, repr(value))
        raise


def _numbered(value: Any) -> Any:
    """Blocks as their numbers."""
    if isinstance(value, Block):
        return SubBlock(value.idx)
    if isinstance(value, list | tuple) and value and all(isinstance(one, Block) for one in value):
        return [SubBlock(one.idx) for one in value]
    return value


def parsed(data: bytes) -> Program:
    """``Program.parse_from_string(data)``."""
    try:
        found = ProgramDescProto.FromString(bytes(data))
    except (DecodeError, TypeError) as error:
        raise BadProgram(f"these {len(data)} bytes are not a program: {error}") from None
    return program_of(found)


def program_of(found: ProgramDescProto) -> Program:
    """The program that a message says. Raises BadProgram where it contradicts itself."""
    blocks: list[BlockDescProto] = found.blocks
    if not 0 < len(blocks) <= _MOST_BLOCKS:
        raise BadProgram(f"these bytes are not a program: they have {len(blocks)} blocks")
    program = Program()
    program.blocks = []
    for number, block in enumerate(blocks):
        if block.idx != number or not -1 <= block.parent_idx < max(number, 0):
            raise BadProgram(
                f"these bytes are not a program: block {number} says that it is {block.idx}, "
                f"within {block.parent_idx}"
            )
        program.blocks.append(Block(program, number, block.parent_idx, block.forward_block_idx))
    if program.blocks[0].parent_idx >= 0:
        raise BadProgram("these bytes are not a program: its first block is within another")
    for block, made in zip(blocks, program.blocks, strict=True):
        for variable in block.vars:
            made.vars[variable.name] = _variable(made, variable)
        made.ops = [_operator(made, op) for op in block.ops]
        _tell_writers(made)
    program._bump()
    return program


def _tell_writers(block: Block) -> None:
    for op in block.ops:
        for name in op.output_arg_names:
            written = block._find_var_recursive(name)
            if written is not None:
                written.op = op


def _variable(block: Block, found: VarDescProto) -> Variable:
    kind: VarTypeProto = found.type
    described = kind.tensor_array if kind.HasField("tensor_array") else kind.lod_tensor
    tensor: TensorDescProto = kind.selected_rows if kind.HasField("selected_rows") else described.tensor
    is_tensor = kind.HasField("lod_tensor") or kind.HasField("selected_rows") or kind.HasField("tensor_array")
    if kind.type not in _KNOWN or (is_tensor and tensor.data_type not in _KNOWN):
        said = f"of type {VarTypeProto.FIELDS['type'].names[kind.type]}"  # type: ignore[index]
        raise BadProgram(f"variable {found.name!r} is {said}, of values that are not in this release")
    traits: dict[str, Any] = {
        "shape": tensor.dims if is_tensor else None,
        "dtype": VarType(tensor.data_type) if is_tensor else None,
        "lod_level": described.lod_level,
        "type": VarType(kind.type),
        "persistable": found.persistable,
        "stop_gradient": found.stop_gradient,
        "need_check_feed": found.need_check_feed,
    }
    if found.is_parameter and is_tensor:
        return Parameter(block, name=found.name, **{**traits, "trainable": not found.stop_gradient})
    return Variable(block, found.name, is_data=found.need_check_feed, **traits)


def _operator(block: Block, found: OpDescProto) -> Operator:
    attrs = {one.name: _valued(block, found.type, one) for one in found.attrs}
    inputs = {slot.parameter: slot.arguments for slot in found.inputs if slot.arguments}
    outputs = {slot.parameter: slot.arguments for slot in found.outputs if slot.arguments}
    known = has_row(found.type.removesuffix("_grad")) or has_row(found.type)
    return Operator(block, found.type, inputs, outputs, completed(found.type, attrs) if known else attrs)


def _valued(block: Block, op: str, attribute: AttrProto) -> Any:
    value = value_of(attribute)
    numbers = value if isinstance(value, list) else [value]
    if not numbers or not isinstance(numbers[0], SubBlock):
        return value
    blocks = block.program.blocks
    if not all(0 <= number < len(blocks) for number in numbers):
        raise BadProgram(f"operator {op}: attribute {attribute.name} = {value} is not a block of the program")
    found = [blocks[number] for number in numbers]
    return found if isinstance(value, list) else found[0]
