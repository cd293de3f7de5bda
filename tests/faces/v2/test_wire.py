"""Messages on the wire, against bytes written by hand from the format's definition."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.protobuf import DecodeError
from paddle.v2._config import LayerConfig, LayerInputConfig, ModelConfig, ParameterConfig


def double(number, value):
    return bytes([number << 3 | 1]) + struct.pack("<d", value)


def test_a_parameters_bytes_are_those_of_the_format():
    config = ParameterConfig(name="w", size=300, dims=[3, 100], initial_smart=True, initial_std=0.5)
    by_hand = b"\x0a\x01w" + b"\x10\xac\x02" + double(6, 0.5) + b"\x48\x03\x48\x64" + b"\x60\x01"
    assert config.SerializeToString() == by_hand
    assert ParameterConfig.FromString(by_hand) == config


def test_field_numbers_above_15_take_two_bytes():
    config = ParameterConfig(name="", size=0, sparse_remote_update=True, sparse_update=True)
    assert config.SerializeToString() == b"\x0a\x00\x10\x00" + b"\x80\x01\x01" + b"\xb0\x01\x01"


def test_negative_numbers_stand_in_twos_complement():
    config = ParameterConfig(initial_strategy=-1)
    assert config.SerializeToString() == b"\x58" + b"\xff" * 9 + b"\x01"
    assert ParameterConfig.FromString(config.SerializeToString()).initial_strategy == -1


def test_messages_nest():
    config = LayerConfig(name="fc", inputs=[LayerInputConfig(input_layer_name="x")])
    assert config.SerializeToString() == b"\x0a\x02fc" + b"\x2a\x03\x0a\x01x"
    assert ModelConfig.FromString(ModelConfig(layers=[config]).SerializeToString()).layers[0] == config


def test_unset_fields_read_as_defaults_and_are_not_written():
    config = ParameterConfig()
    assert (config.learning_rate, config.initial_std, list(config.dims)) == (1.0, 0.01, [])
    assert not config.HasField("learning_rate") and config.SerializeToString() == b""
    config.learning_rate = 1
    assert config.HasField("learning_rate") and config.SerializeToString() == double(3, 1.0)


def test_unknown_fields_are_passed_by():
    unknown = b"\xa0\x06\x05" + b"\xa5\x06\1\2\3\4" + b"\xaa\x06\x02hi" + b"\xa1\x06" + b"\0" * 8
    assert ParameterConfig.FromString(unknown + b"\x10\x05").size == 5


def test_a_field_that_does_not_exist_is_an_error():
    with pytest.raises(AttributeError, match="ParameterConfig has no field 'sise'; it has name, size"):
        ParameterConfig(sise=3)


def test_the_text_form_is_protobufs():
    config = LayerConfig(
        name='a"b', type="fc", size=2, inputs=[LayerInputConfig(input_layer_name="x")], coeff=1
    )
    assert str(config) == (
        'name: "a\\"b"\ntype: "fc"\nsize: 2\ninputs {\n  input_layer_name: "x"\n}\ncoeff: 1.0'
    )


@pytest.mark.parametrize(
    "damaged",
    [
        b"\x0a",
        b"\x0a\x05ab",
        b"\x10",
        b"\x10" + b"\xff" * 11,
        b"\x31\0\0",
        b"\x0b",
        b"\x10\x01\x08\x01",
        b"\x0a\x01\xff",
    ],
)
def test_bytes_that_are_no_message_are_refused(damaged):
    with pytest.raises(DecodeError):
        ParameterConfig.FromString(damaged)


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    with contextlib.suppress(DecodeError):
        ModelConfig.FromString(data)


@given(
    name=st.text(max_size=20),
    size=st.integers(0, 2**64 - 1),
    std=st.floats(allow_nan=False),
    dims=st.lists(st.integers(0, 2**64 - 1), max_size=4),
    static=st.booleans(),
)
def test_what_is_written_is_read_back(name, size, std, dims, static):
    config = ParameterConfig(name=name, size=size, initial_std=std, dims=dims, is_static=static)
    read = ParameterConfig.FromString(config.SerializeToString())
    assert (read.name, read.size, read.initial_std, read.dims, read.is_static) == (
        name,
        size,
        std,
        dims,
        static,
    )
