"""The messages in which programs are kept, by the original's names: ``ProgramDesc().ParseFromString(bytes)``.

It must never know a Program of ours. Guarantee: as of framework_proto.py of the programs' room.
"""

from paddle._program.description.framework_proto import (
    ATTR_TYPES,
    VAR_TYPES,
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

__all__ = ["BlockDesc", "OpDesc", "ProgramDesc", "VarDesc", "VarType", "Version"]


class VarType(VarTypeProto):
    """A kind of variable; its numbers are of this class."""

    TensorDesc, LoDTensorDesc, LoDTensorArrayDesc = TensorDescProto, LoDTensorDescProto, LoDTensorDescProto
    ReaderDesc = ReaderDescProto


class OpDesc(OpDescProto):
    """An operator, with messages of its slots and attributes."""

    Var, Attr = OpVarProto, AttrProto


ProgramDesc, BlockDesc, VarDesc, Version = ProgramDescProto, BlockDescProto, VarDescProto, VersionProto
for _number, _name in VAR_TYPES.items():
    setattr(VarType, _name, _number)
globals().update({_name: _number for _number, _name in ATTR_TYPES.items()})
__all__ += ATTR_TYPES.values()
