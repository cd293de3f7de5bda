"""Programs as bytes: what the original wrote, what comes back, and what is refused."""

from __future__ import annotations

import contextlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.protobuf import DecodeError
from paddle._program.description.attributes import SubBlock, message_of, value_of
from paddle._program.description.framework_proto import (
    ATTR_TYPES,
    VAR_TYPES,
    AttrProto,
    BlockDescProto,
    LoDTensorDescProto,
    OpDescProto,
    OpVarProto,
    ProgramDescProto,
    TensorDescProto,
    VarDescProto,
    VarTypeProto,
    VersionProto,
)
from paddle._program.description.program import Program
from paddle._program.errors import BadProgram

small = st.text(max_size=8)
int32s = st.integers(-(1 << 31), (1 << 31) - 1)
int64s = st.integers(-(1 << 63), (1 << 63) - 1)
floats = st.floats(width=32, allow_nan=False)
values = st.one_of(
    *(st.booleans(), int32s, int64s, floats, small),
    *(st.lists(one, min_size=1, max_size=4) for one in (st.booleans(), int64s, floats, small)),
    int32s.map(SubBlock),
)
tensors = st.builds(
    TensorDescProto,
    data_type=st.sampled_from(sorted(VAR_TYPES)),
    dims=st.lists(int64s, max_size=4),
)
lod_tensors = st.builds(LoDTensorDescProto, tensor=tensors, lod_level=st.integers(0, 3))
types = st.builds(VarTypeProto, type=st.sampled_from(sorted(VAR_TYPES)), lod_tensor=lod_tensors)
variables = st.builds(VarDescProto, name=small, type=types, persistable=st.booleans())
slots = st.lists(st.builds(OpVarProto, parameter=small, arguments=st.lists(small, max_size=3)), max_size=3)
attributes = st.builds(message_of, op=st.just("scale"), name=small, value=values)
operators = st.builds(
    OpDescProto, type=small, inputs=slots, outputs=slots, attrs=st.lists(attributes, max_size=4)
)
blocks = st.builds(
    BlockDescProto,
    idx=int32s,
    parent_idx=int32s,
    vars=st.lists(variables, max_size=3),
    ops=st.lists(operators, max_size=3),
)
programs = st.builds(
    ProgramDescProto, blocks=st.lists(blocks, max_size=3), version=st.builds(VersionProto, version=int64s)
)


@settings(max_examples=25, deadline=None)
@given(programs)
def test_a_program_comes_back_as_it_was(program: ProgramDescProto) -> None:
    data = program.SerializeToString()
    again = ProgramDescProto.FromString(data)
    assert again == program
    assert again.SerializeToString() == data
    assert str(again) == str(program)


@settings(max_examples=60, deadline=None)
@given(programs)
def test_whatever_a_message_says_is_a_program_or_refused_with_words(message: ProgramDescProto) -> None:
    for number, block in enumerate(message.blocks):
        block.idx, block.parent_idx = number, number - 1
    with contextlib.suppress(BadProgram):
        program = Program.parse_from_string(message.SerializeToString())
        assert Program.parse_from_string(program.serialize_to_string()).num_blocks == len(message.blocks)
        assert str(program)


@given(st.binary(max_size=200))
def test_whatever_is_no_program_is_refused_with_words(junk: bytes) -> None:
    with contextlib.suppress(BadProgram):
        Program.parse_from_string(junk)


@given(values)
def test_an_attribute_comes_back_as_it_was(value: object) -> None:
    back = value_of(message_of("scale", "anything", value))
    assert back == value
    assert type(back) is type(value)


@given(st.binary(max_size=200))
def test_whatever_is_no_program_is_a_decode_error(junk: bytes) -> None:
    with contextlib.suppress(DecodeError):
        ProgramDescProto.FromString(junk)


@settings(max_examples=25, deadline=None)
@given(programs, st.data())
def test_a_program_that_is_cut_off_is_one_or_a_decode_error(
    program: ProgramDescProto, data: st.DataObject
) -> None:
    whole = program.SerializeToString()
    with contextlib.suppress(DecodeError):
        ProgramDescProto.FromString(whole[: data.draw(st.integers(0, len(whole)))])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x0a\x02\x08\x00", "BlockDescProto lacks its parent_idx"),
        (b"\x0a\xff\xff\xff\xff\x7f", "ends inside field 1"),
        (b"\x0b", "wire type 3"),
        (b"\x08\x01", "ProgramDescProto.blocks has wire type 0"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, words: str) -> None:
    with pytest.raises(DecodeError, match=words):
        ProgramDescProto.FromString(data)


def test_a_type_that_nobody_knows_is_refused() -> None:
    data = VarTypeProto(type=99).SerializeToString()
    with pytest.raises(DecodeError, match="99 is none of the enumeration BOOL"):
        VarTypeProto.FromString(data)


def test_numbers_that_are_packed_are_read_as_well() -> None:
    one_by_one = TensorDescProto(data_type=5, dims=[-1, 640]).SerializeToString()
    packed = b"\x08\x05\x12\x0c" + one_by_one[3:13] + one_by_one[14:]
    assert TensorDescProto.FromString(packed).dims == [-1, 640]


@pytest.mark.parametrize(
    ("op", "name", "value", "kind"),
    [
        ("scale", "scale", 2, "FLOAT"),
        ("fill_constant", "shape", [1, 2], "LONGS"),
        ("reshape2", "shape", [1, 2], "INTS"),
        ("lookup_table", "padding_idx", -1, "LONG"),
        ("fc", "in_num_col_dims", 1, "INT"),
        ("send", "epmap", [], "STRINGS"),
        ("seed", "seed", 1 << 40, "LONG"),
        ("assign_value", "fp32_values", [1, 2.5], "FLOATS"),
        ("dropout", "is_test", True, "BOOLEAN"),
        ("while", "sub_block", SubBlock(1), "BLOCK"),
    ],
)
def test_an_attribute_is_of_the_type_that_its_operator_declares(
    op: str, name: str, value: object, kind: str
) -> None:
    assert ATTR_TYPES[message_of(op, name, value).type] == kind


def test_what_no_attribute_can_hold_is_said() -> None:
    with pytest.raises(TypeError, match=r"operator py_func: attribute f = .* is a dict"):
        message_of("py_func", "f", {})
    with pytest.raises(TypeError, match=r"attribute mixed = .* mixes INT, STRING"):
        message_of("scale", "mixed", [1, "a"])


def test_its_text_is_as_protobuf_prints_it() -> None:
    operator = OpDescProto(
        type="scale",
        inputs=[OpVarProto(parameter="X", arguments=["x"])],
        attrs=[message_of("scale", "scale", 0.1), message_of("scale", "note", 'say "ä"\n')],
    )
    assert str(operator).splitlines() == [
        "inputs {",
        '  parameter: "X"',
        '  arguments: "x"',
        "}",
        'type: "scale"',
        "attrs {",
        '  name: "scale"',
        "  type: FLOAT",
        "  f: 0.1",
        "}",
        "attrs {",
        '  name: "note"',
        "  type: STRING",
        r'  s: "say \"\303\244\"\n"',
        "}",
    ]


@given(floats)
def test_a_number_of_four_bytes_is_said_with_as_few_digits_as_tell_it(value: float) -> None:
    text = str(AttrProto(name="a", type=1, f=value)).splitlines()[-1].removeprefix("f: ")
    packed = AttrProto(name="a", type=1, f=float(text)) if math.isfinite(value) else None
    assert packed is None or packed == AttrProto(name="a", type=1, f=value)
