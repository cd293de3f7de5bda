"""Inference: values, ids and probabilities, from layers or from a saved network."""

import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import msgspec
import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease
from paddle.v2._config import LayerConfig, LayerInputConfig, ModelConfig


def network():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(5))
    vector = paddle.layer.embedding(input=word, size=2)
    hidden = paddle.layer.fc(
        input=[x, vector], size=4, act=paddle.activation.Relu(), layer_attr=paddle.attr.Extra(drop_rate=0.5)
    )
    return paddle.layer.fc(input=hidden, size=3, act=paddle.activation.Softmax())


ROWS = [([0.1, -2.0, 3.0], 1), ([1.0, 2.0, -3.0], 4), ([0.0, 0.0, 0.0], 0)]


def test_infer_gives_a_row_for_each_row_and_the_same_each_time():
    out = network()
    parameters = paddle.parameters.create(out)
    first, second = (paddle.infer(output_layer=out, parameters=parameters, input=ROWS) for _ in range(2))
    assert first.shape == (3, 3) and first.dtype == np.float32
    np.testing.assert_allclose(first.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(first, second)


def test_max_id_gives_the_greatest_column_and_its_value():
    out = network()
    best = paddle.layer.max_id(input=out)
    parameters = paddle.parameters.create(out)
    values = paddle.infer(output_layer=out, parameters=parameters, input=ROWS)
    ids, probabilities = paddle.infer(
        output_layer=best, parameters=parameters, input=ROWS, field=["id", "prob"]
    )
    np.testing.assert_array_equal(ids, values.argmax(axis=1))
    np.testing.assert_array_equal(probabilities, values.max(axis=1, keepdims=True))


def test_several_outputs_come_in_order():
    out = network()
    inference = paddle.inference.Inference(paddle.parameters.create(out), output_layer=[out, out * 2])
    plain, doubled = inference.infer(input=ROWS)
    np.testing.assert_allclose(doubled, 2 * plain)
    each = [value for (value,) in inference.iter_infer_field(field="value", input=ROWS)]
    np.testing.assert_array_equal(each, [plain, doubled])
    fields = next(inference.iter_infer(input=ROWS))
    assert set(fields[0]) == {"value", "id", "prob"} and fields[0]["id"] is None


def test_unflattened_outputs_are_arrays_of_each_layer_by_field():
    out = network()
    layers = [paddle.layer.max_id(input=out), paddle.layer.max_id(input=out * -1)]
    parameters = paddle.parameters.create(out)
    wide = paddle.inference.Inference(parameters, output_layer=[out, paddle.layer.concat(input=[out, out])])
    found = wide.infer(input=ROWS, field=["value"], flatten_result=False)
    assert [each.shape for each in found] == [(3, 3), (3, 6)]
    inference = paddle.inference.Inference(parameters, output_layer=layers)
    ids, probs = inference.infer(input=ROWS, field=["id", "prob"], flatten_result=False)
    assert [each.shape for each in ids] == [(3,)] * 2 and [each.shape for each in probs] == [(3, 1)] * 2
    flat = inference.infer(input=ROWS, field=["id", "prob"])
    for each, other in zip(flat, [*ids, *probs], strict=True):
        np.testing.assert_array_equal(each, other)


def test_feeding_tells_where_slots_stand():
    out = network()
    parameters = paddle.parameters.create(out)
    swapped = [(word, x) for x, word in ROWS]
    np.testing.assert_array_equal(
        paddle.infer(output_layer=out, parameters=parameters, input=swapped, feeding={"x": 1, "word": 0}),
        paddle.infer(output_layer=out, parameters=parameters, input=ROWS),
    )


def test_a_saved_network_infers_the_same():
    out = network()
    parameters = paddle.parameters.create(out)
    saved, tar = io.BytesIO(), io.BytesIO()
    paddle.topology.Topology(layers=out).serialize_for_inference(saved)
    parameters.to_tar(tar)
    saved.seek(0), tar.seek(0)
    inference = paddle.inference.Inference(paddle.parameters.Parameters.from_tar(tar), fileobj=saved)
    np.testing.assert_array_equal(
        inference.infer(input=ROWS), paddle.infer(output_layer=out, parameters=parameters, input=ROWS)
    )


def test_a_network_is_kept_in_a_file_that_is_open_as_text(tmp_path):
    out = network()
    parameters = paddle.parameters.create(out)
    with (tmp_path / "topology.pkl").open("w") as file:
        paddle.topology.Topology(layers=out).serialize_for_inference(file)
    with (tmp_path / "topology.pkl").open() as file:
        again = paddle.inference.Inference(parameters, fileobj=file)
    expected = paddle.infer(output_layer=out, parameters=parameters, input=ROWS)
    np.testing.assert_array_equal(again.infer(input=ROWS), expected)
    with pytest.raises(ValueError, match="networks are kept in a binary file, not in StringIO"):
        paddle.topology.Topology(layers=out).serialize_for_inference(io.StringIO())


def pickled_by_the_original(network: bytes, module: str) -> bytes:
    """As Python 2 pickles {"protobin": ..., "data_type": [("x", InputType(3, 0, 0))]} with protocol 2."""
    text = b"T" + len(network).to_bytes(4, "little") + network
    slots = b"(U\x08seq_typeK\x00U\x03dimK\x03U\x04typeK\x00u"
    of_type = b"c" + module.encode() + b"\nInputType\n)\x81N}" + slots + b"\x86b"
    return b"\x80\x02}(U\x08protobin" + text + b"U\tdata_type]X\x01\x00\x00\x00x" + of_type + b"\x86au."


def test_a_network_that_the_original_pickled_is_read_as_data():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    out = paddle.layer.fc(input=x, size=2)
    parameters, network = paddle.parameters.create(out), paddle.topology.Topology(out).proto()
    written = pickled_by_the_original(network.SerializeToString(), "paddle.trainer.PyDataProvider2")
    again = paddle.inference.Inference(parameters, fileobj=io.BytesIO(written))
    rows = [([1.0, -2.0, 3.0],)]
    expected = paddle.infer(output_layer=out, parameters=parameters, input=rows)
    np.testing.assert_array_equal(again.infer(input=rows), expected)
    for wrong in (pickled_by_the_original(b"", "os"), written[:-20], pickle.dumps(3)):
        with pytest.raises(ValueError, match="not a network of"):
            paddle.inference.Inference(parameters, fileobj=io.BytesIO(wrong))


def test_threads_that_ask_one_inference_get_each_their_own_answer():
    out = network()
    inference = paddle.inference.Inference(paddle.parameters.create(out), out)
    answers = [inference.infer(input=[row]) for row in ROWS]
    questions = [number % len(ROWS) for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: inference.infer(input=[ROWS[number]]), questions))
    np.testing.assert_array_equal(found, [answers[number] for number in questions])


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"type": "data_norm"}, "'out' is of type 'data_norm'"),
        ({"active_type": "softsign2"}, "'out' has the activation 'softsign2'"),
    ],
)
def test_a_saved_network_of_another_release_is_named(change, error):
    config = LayerConfig(name="out", type="addto", size=1, inputs=[LayerInputConfig(input_layer_name="x")])
    for field, value in change.items():
        setattr(config, field, value)
    data = LayerConfig(name="x", type="data", size=1)
    model = ModelConfig(layers=[data, config], output_layer_names=["out"])
    saved = msgspec.msgpack.encode({"protobin": model.SerializeToString(), "data_type": [("x", (1, 0, 0))]})
    with pytest.raises(NotInThisRelease, match=error):
        paddle.inference.Inference(paddle.parameters.Parameters(), fileobj=io.BytesIO(saved))


@pytest.mark.parametrize(
    "content", [b"", b"garbage", msgspec.msgpack.encode({"protobin": "text", "data_type": []})]
)
def test_a_file_that_is_no_saved_network_is_refused(content):
    with pytest.raises(ValueError, match="not a network of"):
        paddle.inference.Inference(paddle.parameters.Parameters(), fileobj=io.BytesIO(content))


def test_bad_questions_are_named():
    out = network()
    parameters = paddle.parameters.create(out)
    with pytest.raises(ValueError, match=r"has no 'id', it has .*value.*max_id"):
        paddle.infer(output_layer=out, parameters=parameters, input=ROWS, field="id")
    with pytest.raises(ValueError, match="field is value, id, prob"):
        paddle.infer(output_layer=out, parameters=parameters, input=ROWS, field="probability")
    with pytest.raises(ValueError, match="needs an output_layer"):
        paddle.inference.Inference(parameters)
    with pytest.raises(ValueError, match=r"the network has a parameter .*, and these Parameters have none"):
        paddle.infer(output_layer=out, parameters=paddle.parameters.Parameters(), input=ROWS)
