"""Parameters: values by name, and the tar file byte for byte."""

import gzip
import io
import math
import struct
import tarfile

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle.v2.parameters import Parameters


def network(**attributes):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    return paddle.layer.fc(input=x, size=2, name="out", param_attr=paddle.attr.Param(name="w", **attributes))


def made(**attributes):
    return paddle.parameters.create(network(**attributes))


def double(value):
    return struct.pack("<d", value)


def test_a_tar_file_has_the_documented_bytes():
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(3))
    attr = paddle.attr.Param(name="w", learning_rate=2.0, l2_rate=0.5, sparse_update=True)
    table = paddle.layer.table_projection(input=word, size=2, param_attr=attr)
    parameters = paddle.parameters.create(paddle.layer.mixed(input=table, name="out", bias_attr=True))
    parameters["w"] = np.arange(6).reshape(3, 2)
    found = io.BytesIO()
    parameters.to_tar(found)

    start = b"\x29" + double(0.0) + b"\x31" + double(1 / math.sqrt(3))
    weight_config = b"\x0a\x01w\x10\x06" + b"\x19" + double(2.0) + start + b"\x39" + double(0.5)
    weight_config += b"\x48\x03\x48\x02" + b"\x58\x00" + b"\x60\x01" + b"\x80\x01\x01" + b"\xb0\x01\x01"
    bias_config = b"\x0a\x0a_out.wbias\x10\x02" + b"\x29" + double(0.0) + b"\x31" + double(0.0)
    bias_config += b"\x48\x01\x48\x02" + b"\x58\x00" + b"\x60\x00"
    members = {
        "w": struct.pack("<IIQ", 0, 4, 6) + struct.pack("<6f", 0, 1, 2, 3, 4, 5),
        "w.protobuf": weight_config,
        "_out.wbias": struct.pack("<IIQ", 0, 4, 2) + struct.pack("<2f", 0, 0),
        "_out.wbias.protobuf": bias_config,
    }
    by_hand = io.BytesIO()
    with tarfile.open(fileobj=by_hand, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime, info.mode = len(content), 0, 0o644
            tar.addfile(info, io.BytesIO(content))
    assert found.getvalue() == by_hand.getvalue()


def test_equal_parameters_give_equal_files():
    files = [io.BytesIO() for _ in range(2)]
    parameters = made()
    for file in files:
        parameters.to_tar(file)
    assert files[0].getvalue() == files[1].getvalue()


@pytest.mark.parametrize("mode", ["w", "wb"])
@pytest.mark.parametrize("opener", [open, gzip.open])
def test_files_may_be_opened_as_the_documents_open_them(tmp_path, mode, opener):
    path, parameters = tmp_path / "params.tar", made()
    with opener(path, mode) as f:
        parameters.to_tar(f)
    with opener(path, mode.replace("w", "r")) as f:
        read = Parameters.from_tar(f)
    assert read.names() == parameters.names() == ["w", "_out.wbias"]
    for name in parameters:
        np.testing.assert_array_equal(read[name], parameters[name])
        assert read.get_shape(name) == parameters.get_shape(name)
        assert read._pool.config(name) == parameters._pool.config(name)


def test_text_without_a_file_under_it_is_refused():
    with pytest.raises(TypeError, match=r"io.BytesIO"):
        made().to_tar(io.StringIO())


def test_a_file_as_the_original_writes_it_is_read_without_its_end():
    found = io.BytesIO()
    parameters = made()
    parameters.to_tar(found)
    unfinished = found.getvalue().rstrip(b"\0")
    unfinished += b"\0" * (-len(unfinished) % 512)  # the original never writes the two blocks of zeros
    np.testing.assert_array_equal(Parameters.from_tar(io.BytesIO(unfinished))["w"], parameters["w"])


def test_values_are_taken_from_a_file_but_for_those_left_out():
    saved, source = io.BytesIO(), made()
    source["_out.wbias"] = np.array([[7.0, 8.0]])
    source.to_tar(saved)
    for left_out, bias in ((["_out.wbias"], [[0, 0]]), ([], [[7, 8]])):
        target = made(initial_std=0.0)
        saved.seek(0)
        target.init_from_tar(saved, exclude_params=left_out)
        np.testing.assert_array_equal(target["w"], source["w"])
        assert target["_out.wbias"].tolist() == bias


@pytest.mark.parametrize(
    "change", [lambda b: b[:-4], lambda b: b + b"\0" * 4, lambda b: b"\1" + b[1:], lambda b: b""]
)
def test_a_damaged_value_is_refused(change):
    parameters, content = made(), io.BytesIO()
    parameters.serialize("w", content)
    with pytest.raises(ValueError, match="the file of parameter 'w' is damaged"):
        parameters.deserialize("w", io.BytesIO(change(content.getvalue())))


def test_first_values_follow_from_the_seed_and_the_name(monkeypatch):
    def drawn(seed):
        paddle.init(seed=seed)
        return made()["w"]

    np.testing.assert_array_equal(drawn(5), drawn(5))
    assert not np.array_equal(drawn(5), drawn(6))


def test_first_values_have_the_distribution_asked_for():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(400))

    def weight(**attributes):
        layer = paddle.layer.fc(
            input=x, size=100, bias_attr=False, param_attr=paddle.attr.Param(**attributes)
        )
        return paddle.parameters.create(layer)[f"_{layer.name}.w0"]

    assert weight().std() == pytest.approx(1 / 20, rel=0.03)
    assert weight(initial_mean=3.0, initial_std=0.1).mean() == pytest.approx(3.0, abs=0.01)
    uniform = weight(initial_min=1.0, initial_max=2.0)
    assert 1 <= uniform.min() < 1.01 and 1.99 < uniform.max() <= 2
    assert uniform.dtype == np.float32


def test_a_programs_own_initializer_is_asked_by_name():
    parameters = made(initializer=lambda name: np.full((3, 2), len(name)))
    assert parameters["w"].tolist() == [[1, 1]] * 3
    with pytest.raises(
        ValueError, match=r"the initializer of parameter 'w' made \(2,\), its shape is \(3, 2\)"
    ):
        made(initializer=lambda name: np.zeros(2)).get("w")


def test_reading_gives_copies_and_assigning_copies_in():
    parameters, value = made(), np.ones((3, 2))
    parameters["w"] = value
    value[:] = 2
    parameters.get("w")[:] = 3
    assert parameters["w"].tolist() == [[1, 1]] * 3


def test_a_mapping_from_names():
    parameters = made()
    assert "w" in parameters and parameters.has_key("w") and "v" not in parameters
    assert list(parameters) == parameters.keys() == parameters.names() and len(parameters) == 2
    assert parameters.get_shape("_out.wbias") == (1, 2)
    for wrong in (lambda: parameters["v"], lambda: parameters.get_shape("v"), lambda: parameters.set("v", 1)):
        with pytest.raises(ValueError, match=r"there is no parameter 'v'; there are w, _out.wbias"):
            wrong()
    with pytest.raises(ValueError, match=r"'w' has shape \(3, 2\), the value given has \(2, 3\)"):
        parameters["w"] = np.zeros((2, 3))
    for wrong, found in ((None, "None"), ("x", "'x'"), ([1, "a"], r"\[1, 'a'\]"), (3, "3")):
        with pytest.raises(ValueError, match=rf"'w' has shape \(3, 2\), the value given is {found}"):
            parameters["w"] = wrong
    assert (parameters.get_grad("w") == np.zeros((3, 2))).all()  # nobody has trained it
