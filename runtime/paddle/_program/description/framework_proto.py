"""Framework.proto: the messages in which the original keeps programs, by their numbers (1.0 to 2.6).

They must never know a Program of ours (``program_desc.py`` does). Guarantee: bytes that the original wrote
are read, and what is written here it reads; an unknown type of a variable or an attribute is a DecodeError.
Of what only compilers of the original note (OpVersionMap, attributes of variables) nothing is kept.
"""

from __future__ import annotations

from paddle._engine.protobuf import Field, Message

VAR_TYPES = {
    **dict(enumerate(("BOOL", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "LOD_TENSOR"))),
    **dict(enumerate(("SELECTED_ROWS", "FEED_MINIBATCH", "FETCH_LIST", "STEP_SCOPES", "LOD_RANK_TABLE"), 8)),
    **dict(enumerate(("LOD_TENSOR_ARRAY", "PLACE_LIST", "READER", "FETCH_VAR_LIST", "RAW", "TUPLE"), 13)),
    **dict(enumerate(("SIZE_T", "UINT8", "INT8", "BF16", "COMPLEX64", "COMPLEX128", "STRING"), 19)),
    **dict(enumerate(("STRINGS", "VOCAB", "FEED_LIST", "PSTRING", "SPARSE_COO", "SPARSE_CSR"), 26)),
}
"""VarType.Type: kinds of numbers and of variables."""

ATTR_TYPES = dict(
    enumerate(
        (
            *("INT", "FLOAT", "STRING", "INTS", "FLOATS", "STRINGS", "BOOLEAN", "BOOLEANS", "BLOCK"),
            *("LONG", "BLOCKS", "LONGS", "FLOAT64S", "VAR", "VARS", "FLOAT64", "SCALAR", "SCALARS"),
        )
    )
)
"""AttrType: which of its fields an attribute is in."""


class VersionProto(Message):
    """Version."""

    FIELDS = {"version": Field(1, "int64")}  # noqa: RUF012


class TensorDescProto(Message):
    """VarType.TensorDesc: -1 stands for a length that a batch decides."""

    FIELDS = {  # noqa: RUF012
        "data_type": Field(1, "int32", required=True, names=VAR_TYPES),
        "dims": Field(2, "int64", repeated=True),
    }


class LoDTensorDescProto(Message):
    """VarType.LoDTensorDesc, and LoDTensorArrayDesc, which is the same."""

    FIELDS = {  # noqa: RUF012
        "tensor": Field(1, TensorDescProto, required=True),
        "lod_level": Field(2, "int32"),
    }


class ReaderDescProto(Message):
    """VarType.ReaderDesc."""

    FIELDS = {"lod_tensor": Field(1, LoDTensorDescProto, repeated=True)}  # noqa: RUF012


class VarTypeProto(Message):
    """VarType."""

    FIELDS = {  # noqa: RUF012
        "type": Field(1, "int32", required=True, names=VAR_TYPES),
        "selected_rows": Field(2, TensorDescProto),
        "lod_tensor": Field(3, LoDTensorDescProto),
        "tensor_array": Field(4, LoDTensorDescProto),
        "reader": Field(5, ReaderDescProto),
    }


class VarDescProto(Message):
    """VarDesc. ``is_parameter`` and ``stop_gradient`` are of 2.x; 1.x passes over them."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string", required=True),
        "type": Field(2, VarTypeProto, required=True),
        "persistable": Field(3, "bool"),
        "need_check_feed": Field(4, "bool"),
        "is_parameter": Field(5, "bool"),
        "stop_gradient": Field(6, "bool"),
    }


class OpVarProto(Message):
    """OpDesc.Var: a slot and the names in it."""

    FIELDS = {  # noqa: RUF012
        "parameter": Field(1, "string", required=True),
        "arguments": Field(2, "string", repeated=True),
    }


class ComplexProto(Message):
    """Complex."""

    FIELDS = {"r": Field(1, "double", required=True), "i": Field(2, "double", required=True)}  # noqa: RUF012


class ScalarProto(Message):
    """Scalar: a number that says itself what it is, of 2.5 and later."""

    FIELDS = {  # noqa: RUF012
        "type": Field(
            1, "int32", required=True, names={1: "BOOLEAN", 2: "LONG", 3: "FLOAT64", 4: "COMPLEX128"}
        ),
        "b": Field(2, "bool"),
        "i": Field(3, "int64"),
        "r": Field(4, "double"),
        "c": Field(5, ComplexProto),
    }


class AttrProto(Message):
    """OpDesc.Attr: ``type`` says which other field holds it."""

    FIELDS = {  # noqa: RUF012
        "name": Field(1, "string", required=True),
        "type": Field(2, "int32", required=True, names=ATTR_TYPES),
        "i": Field(3, "int32"),
        "f": Field(4, "float"),
        "s": Field(5, "string"),
        "ints": Field(6, "int32", repeated=True),
        "floats": Field(7, "float", repeated=True),
        "strings": Field(8, "string", repeated=True),
        "b": Field(10, "bool"),
        "bools": Field(11, "bool", repeated=True),
        "block_idx": Field(12, "int32"),
        "l": Field(13, "int64"),
        "blocks_idx": Field(14, "int32", repeated=True),
        "longs": Field(15, "int64", repeated=True),
        "float64s": Field(16, "double", repeated=True),
        "var_name": Field(17, "string"),
        "vars_name": Field(18, "string", repeated=True),
        "float64": Field(19, "double"),
        "scalar": Field(20, ScalarProto),
        "scalars": Field(21, ScalarProto, repeated=True),
    }


class OpDescProto(Message):
    """OpDesc."""

    FIELDS = {  # noqa: RUF012
        "inputs": Field(1, OpVarProto, repeated=True),
        "outputs": Field(2, OpVarProto, repeated=True),
        "type": Field(3, "string", required=True),
        "attrs": Field(4, AttrProto, repeated=True),
        "is_target": Field(5, "bool"),
    }


class BlockDescProto(Message):
    """BlockDesc."""

    FIELDS = {  # noqa: RUF012
        "idx": Field(1, "int32", required=True),
        "parent_idx": Field(2, "int32", required=True),
        "vars": Field(3, VarDescProto, repeated=True),
        "ops": Field(4, OpDescProto, repeated=True),
        "forward_block_idx": Field(5, "int32", default=-1),
    }


class ProgramDescProto(Message):
    """ProgramDesc."""

    FIELDS = {  # noqa: RUF012
        "blocks": Field(1, BlockDescProto, repeated=True),
        "version": Field(4, VersionProto),
    }
