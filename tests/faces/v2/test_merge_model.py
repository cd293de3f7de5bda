"""A network and its parameters in one file, as ``paddle.utils.merge_model`` writes them."""

import gzip
import struct

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle.utils.dump_v2_config import dump_v2_config
from paddle.utils.merge_model import merge_v2_model
from paddle.v2._config import ModelConfig


def network(size=2):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    return paddle.layer.fc(input=x, size=size, name="out")


def test_the_file_is_a_network_and_the_values_of_its_parameters(tmp_path, capsys) -> None:
    out = network()
    parameters = paddle.parameters.create(out)
    parameters["_out.wbias"] = np.array([[3.0, 4.0]], "float32")
    with gzip.open(tmp_path / "model.tar.gz", "wb") as file:
        parameters.to_tar(file)
    merge_v2_model(out, str(tmp_path / "model.tar.gz"), str(tmp_path / "model.paddle"))
    merged = (tmp_path / "model.paddle").read_bytes()
    (length,) = struct.unpack("<q", merged[:8])
    config = ModelConfig.FromString(merged[8 : 8 + length])
    assert [layer.name for layer in config.layers] == ["x", "out"]
    expected = b""
    for name in (each.name for each in config.parameters):
        value = parameters[name]
        expected += struct.pack("<IIQ", 0, 4, value.size) + value.tobytes()
    assert merged[8 + length :] == expected and "success" in capsys.readouterr().out


@pytest.mark.parametrize("binary", [False, True])
def test_the_configuration_alone_is_dumped_as_text_or_as_bytes(tmp_path, binary) -> None:
    out = network()
    dump_v2_config([out], str(tmp_path / "network"), binary)
    expected = paddle.layer.parse_network(out)
    if binary:
        assert ModelConfig.FromString((tmp_path / "network").read_bytes()) == expected
    else:
        assert (tmp_path / "network").read_text() == str(expected)


def test_what_does_not_fit_together_is_named(tmp_path) -> None:
    with gzip.open(tmp_path / "model.tar.gz", "wb") as file:
        paddle.parameters.create(network()).to_tar(file)
    given = tmp_path / "model.tar.gz", tmp_path / "model.paddle"
    with pytest.raises(ValueError, match=r"lacks parameters of the network: _other.w0, _other.wbias"):
        merge_v2_model(paddle.layer.fc(input=network(), size=1, name="other"), *given)
    with pytest.raises(ValueError, match=r"_out\.w0"):
        merge_v2_model(network(5), *given)
    with pytest.raises(TypeError, match="net is the output layer"):
        merge_v2_model("out", *given)
    assert not (tmp_path / "model.paddle").exists()
