"""What v2 lets a program write in more than one way: each way means the same."""

import gzip
import io
from functools import partial

import numpy as np
import pytest

import paddle.v2 as paddle

ROWS = [(np.array([n % 3, -n, 1.0]) / 4, [n % 2]) for n in range(12)]


def reader():
    yield from ROWS


def network(**attributes):
    """A line through three features: the data layers, the prediction and its cost."""
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    line = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear(), name="line", **attributes)
    return x, y, line, paddle.layer.square_error_cost(input=line, label=y, name="cost")


def trained(train, **attributes):
    """The weight after ``train(trainer)``."""
    *_, cost = network(**attributes)
    parameters = paddle.parameters.create(cost)
    train(paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(momentum=0.5, learning_rate=0.01)))
    return parameters.get("_line.w0")


def test_positions_and_names_of_arguments_mean_the_same():
    act, weight = paddle.activation.Relu(), paddle.attr.Param(name="w", initial_std=0.1)
    extra = paddle.attr.Extra(drop_rate=0.5)
    x = paddle.layer.data("x", paddle.data_type.dense_vector(3))
    label = paddle.layer.data("label", paddle.data_type.integer_value(2))
    softmax = paddle.layer.fc(x, 2, paddle.activation.Softmax(), "softmax")
    by_position = [
        paddle.layer.fc(x, 4, act, "fc", weight, False, extra),
        paddle.layer.embedding(label, 4, "embedding", weight),
        paddle.layer.concat([x, x], act, "concat"),
        paddle.layer.addto([x, x], act, "addto", True),
        paddle.layer.classification_cost(softmax, label, None, "cost"),
        paddle.layer.cross_entropy_cost(softmax, label, "entropy", 0.5),
        paddle.layer.mse_cost(x, x, None, "error"),
        paddle.layer.dropout(x, 0.5, "dropout"),
    ]
    by_name = [
        paddle.layer.fc(
            input=x, size=4, act=act, name="fc", param_attr=weight, bias_attr=False, layer_attr=extra
        ),
        paddle.layer.embedding(input=label, size=4, name="embedding", param_attr=weight),
        paddle.layer.concat(input=[x, x], act=act, name="concat"),
        paddle.layer.addto(input=[x, x], act=act, name="addto", bias_attr=True),
        paddle.layer.classification_cost(input=softmax, label=label, weight=None, name="cost"),
        paddle.layer.cross_entropy_cost(input=softmax, label=label, name="entropy", coeff=0.5),
        paddle.layer.square_error_cost(input=x, label=x, weight=None, name="error"),
        paddle.layer.dropout(input=x, dropout_rate=0.5, name="dropout"),
    ]
    for one, other in zip(by_position, by_name, strict=True):
        assert str(one.config) == str(other.config)
        assert str(paddle.layer.parse_network(one)) == str(paddle.layer.parse_network(other))


def test_aliases_are_the_same_things():
    attr, data_type, layer = paddle.attr, paddle.data_type, paddle.layer
    assert attr.Param is attr.ParamAttr is attr.ParameterAttribute
    assert attr.Extra is attr.ExtraAttr is attr.ExtraLayerAttribute
    assert data_type.sparse_vector is data_type.sparse_float_vector
    assert data_type.dense_array(3) == data_type.dense_vector(3)
    assert layer.mse_cost is layer.regression_cost is layer.square_error_cost
    assert layer.StaticInputV2 is layer.StaticInput and layer.GeneratedInputV2 is layer.GeneratedInput
    assert layer.huber_cost is layer.huber_classification_cost
    assert paddle.activation.Linear is paddle.activation.Identity
    assert paddle.batch is paddle.minibatch.batch
    assert paddle.infer is paddle.inference.infer


@pytest.mark.parametrize("classes", [2, 9])
def test_labels_may_be_declared_for_fewer_classes_or_for_more(classes):
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(classes))
    scores = paddle.layer.fc(input=x, size=4, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=scores, label=label)
    words = paddle.layer.data(name="words", type=paddle.data_type.dense_vector_sequence(4))
    tags = paddle.layer.data(name="tags", type=paddle.data_type.integer_value_sequence(classes))
    path = paddle.layer.crf(input=words, label=tags, size=4)
    parameters = paddle.parameters.create([scores, cost, path])
    row = (np.ones(3), 1, np.eye(4)[:2], [1, 0])
    feeding = ["x", "label", "words", "tags"]
    found, lost, _ = paddle.infer([scores, cost, path], parameters, [row], feeding=feeding)
    assert lost[0] == pytest.approx(-np.log(found[0, 1]), rel=1e-5)
    if classes == 9:
        for place, name in (1, "label"), (3, "tags"):
            wrong = [*row[:place], 5 if place == 1 else [5, 0], *row[place + 1 :]]
            with pytest.raises(ValueError, match=f"'{name}' holds 5, but .* takes 0 to 3 only"):
                paddle.infer([cost, path], parameters, [wrong], feeding=feeding)


def test_precision_of_a_class_that_has_no_column_is_named():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(9))
    scores = paddle.layer.fc(input=x, size=4, act=paddle.activation.Softmax())
    cost = paddle.layer.sum_cost(scores)
    paddle.evaluator.precision_recall(input=scores, label=label)
    update = paddle.optimizer.Momentum(learning_rate=0.0)
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), update, extra_layers=[label])
    with pytest.raises(ValueError, match=r"precision_recall: a label is 5, .* columns for 0 to 3"):
        trainer.test(lambda: iter([[(np.ones(3), 5)]]), feeding=["x", "label"])


def test_a_data_layer_of_images_knows_its_channels():
    type = paddle.data_type.dense_vector(3 * 4 * 6)
    image = paddle.layer.data(name="image", type=type, height=4, width=6)
    padded = paddle.layer.pad(image, pad_c=[0, 1])
    assert (padded.size, padded.height, padded.width) == (4 * 4 * 6, 4, 6)
    assert paddle.layer.img_conv(image, filter_size=1, num_filters=2).size == 2 * 4 * 6
    with pytest.raises(ValueError, match=r"how many channels .* by num_channels or by height and width"):
        paddle.layer.pad(paddle.layer.data(name="flat", type=type), pad_c=[0, 1])


def test_noise_contrast_takes_the_one_activation_that_it_has():
    words = paddle.layer.data(name="words", type=paddle.data_type.dense_vector(3))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(5))
    assert paddle.layer.nce(words, label, act=paddle.activation.Sigmoid()).size == 1
    with pytest.raises(ValueError, match="noise contrast has Sigmoid for its activation"):
        paddle.layer.nce(words, label, act=paddle.activation.Softmax())


def test_layers_without_a_name_are_numbered_by_kind():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    layers = [paddle.layer.fc(x, 2), paddle.layer.fc(x, 2), paddle.layer.addto([x, x]), x * 2]
    assert [each.name for each in layers] == [
        *("__fc_layer_0__", "__fc_layer_1__", "__addto_0__", "__slope_intercept_layer_0__")
    ]
    parameters = paddle.parameters.create(layers[1])
    assert parameters.names() == parameters.keys() == ["___fc_layer_1__.w0", "___fc_layer_1__.wbias"]


@pytest.mark.parametrize(
    ("order", "feeding"),
    [
        ((0, 1), None),
        ((0, 1), {"x": 0, "y": 1}),
        ((0, 1), ["x", "y"]),
        ((1, 0), {"x": 1, "y": 0}),
        ((1, 0), ["y", "x"]),
        ((1, 1, 0), {"x": 2, "y": 0}),
    ],
)
def test_every_form_of_feeding_trains_the_same(order, feeding):
    rows = [tuple(row[place] for place in order) for row in ROWS]
    found = trained(lambda t: t.train(paddle.batch(lambda: iter(rows), 4), feeding=feeding))
    np.testing.assert_array_equal(found, trained(lambda t: t.train(paddle.batch(reader, 4))))


class Reader:
    """A reader that is an object, over rows that are lists."""

    def __call__(self):
        return iter([[list(map(float, x)), y] for x, y in ROWS])


@pytest.mark.parametrize(
    "train",
    [
        lambda t: t.train(paddle.batch(reader, 4), 2),
        lambda t: t.train(paddle.batch(reader, 4), 2, lambda event: None, None),
        lambda t: t.train(reader=paddle.batch(reader=reader, batch_size=4), num_passes=2),
        lambda t: t.train(reader=paddle.batch(Reader(), batch_size=4), num_passes=2),
        lambda t: t.train(paddle.batch(paddle.reader.buffered(reader, 3), 4), num_passes=2),
        lambda t: t.train(lambda: [ROWS[:4], ROWS[4:8], ROWS[8:]], num_passes=2),
        lambda t: [t.train(paddle.batch(reader, 4)) for _ in range(2)],
    ],
)
def test_every_way_to_train_twice_over_the_rows_is_the_same(train):
    np.testing.assert_array_equal(trained(train), trained(lambda t: t.train(paddle.batch(reader, 4), 2)))


def test_the_network_is_known_by_its_older_name():
    *_, cost = network()
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())
    assert str(trainer.__topology_in_proto__) == str(trainer.get_topology_proto()) != ""


def test_handlers_find_the_parameters_at_their_trainer():
    *_, cost = network()
    parameters = paddle.parameters.create(cost)
    assert paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum()).__parameters__ is parameters


def test_init_may_be_called_again_and_take_texts():
    paddle.init(use_gpu=False, trainer_count=1)
    paddle.init(use_gpu="False", trainer_count="1", seed="3")
    seeded = trained(lambda t: None)
    paddle.init(seed=3)
    np.testing.assert_array_equal(trained(lambda t: None), seeded)
    paddle.init(seed=4)
    assert (trained(lambda t: None) != seeded).any()


def saved_by(save):
    """The bytes of a tar file that ``save(trainer, parameters)`` gives."""
    *_, cost = network()
    parameters = paddle.parameters.create(cost)
    return save(paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum()), parameters)


def to_memory(write):
    f = io.BytesIO()
    write(f)
    return f.getvalue()


def to_file(path, opened, write):
    with opened(path, "w") as f:
        write(f)
    with opened(path, "rb") as f:
        return f.read()


def test_every_way_to_save_gives_the_same_bytes_and_every_way_to_load_the_values(tmp_path):
    text, packed = tmp_path / "text.tar", tmp_path / "packed.tar.gz"
    expected = saved_by(lambda t, p: to_memory(p.to_tar))
    assert saved_by(lambda t, p: to_memory(t.save_parameter_to_tar)) == expected
    assert saved_by(lambda t, p: to_file(text, open, p.to_tar)) == expected
    assert saved_by(lambda t, p: to_file(packed, gzip.open, t.save_parameter_to_tar)) == expected
    for opened in (partial(open, text), partial(open, text, "rb"), partial(gzip.open, packed)):
        with opened() as f:
            loaded = paddle.parameters.Parameters.from_tar(f)
        assert to_memory(loaded.to_tar) == expected


def test_a_file_fills_a_network_made_before_but_for_what_is_left_out():
    f = io.BytesIO(saved_by(lambda t, p: (p.set("_line.w0", np.full((3, 1), 7.0)), to_memory(p.to_tar))[1]))
    parameters = paddle.parameters.create(network()[-1])
    parameters["_line.wbias"] = np.full((1, 1), 9.0)
    parameters.init_from_tar(f, exclude_params=["_line.wbias"])
    assert (parameters["_line.w0"] == 7).all() and (parameters.get("_line.wbias") == 9).all()
    assert parameters.get_shape("_line.w0") == (3, 1) and parameters.has_key("_line.w0")


def test_every_way_to_infer_gives_the_same():
    _, _, line, cost = network()
    parameters = paddle.parameters.create(cost)
    rows = [(x,) for x, _ in ROWS]
    expected = paddle.infer(output_layer=line, parameters=parameters, input=rows)
    assert expected.shape == (12, 1)
    inferer = paddle.inference.Inference(parameters=parameters, output_layer=line)
    for found in (
        paddle.infer(line, parameters, rows),
        paddle.infer(line, parameters, rows, None, "value"),
        paddle.infer(output_layer=line, parameters=parameters, input=rows, field=["value"]),
        paddle.infer(output_layer=line, parameters=parameters, input=ROWS, feeding={"x": 0}),
        inferer.infer(input=rows),
        inferer.infer(rows, "value"),
        inferer.infer(input=rows, flatten_result=False)[0],
        *next(inferer.iter_infer_field(field="value", input=rows)),
        next(inferer.iter_infer(input=rows))[0]["value"],
    ):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("number", [float, np.float32, np.float64])
def test_numbers_of_any_kind_make_the_same_optimizer(number):
    made = paddle.optimizer.Adam(
        learning_rate=number(0.5),
        gradient_clipping_threshold=number(25),
        regularization=paddle.optimizer.L2Regularization(rate=number(0.25)),
        batch_size=64,
    )
    assert (
        made.update
        == paddle.optimizer.Adam(
            learning_rate=0.5,
            gradient_clipping_threshold=25,
            regularization=[paddle.optimizer.L2Regularization(0.25)],
        ).update
    )


def test_a_layer_is_written_inside_the_block_of_a_mixed_layer():
    def network(x):
        with paddle.layer.mixed(size=4) as mixed:
            inner = paddle.layer.fc(input=x, size=4, act=paddle.activation.Linear(), name="inner")
            mixed += paddle.layer.identity_projection(input=inner)
        return mixed

    plain = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
    found = paddle.topology.Topology(network(plain)).proto()
    assert [each.type for each in found.layers] == ["data", "fc", "mixed"]
    parameters = paddle.parameters.create(network(plain))
    parameters["_inner.w0"] = [[2.0 * (row == column) for column in range(4)] for row in range(4)]
    rows = [([1.0, 2.0, 3.0, 4.0],)]
    given = paddle.infer(output_layer=network(plain), parameters=parameters, input=rows)
    assert given.tolist() == [[2.0, 4.0, 6.0, 8.0]]


def test_programs_of_0_10_have_their_spellings() -> None:
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(4))
    kept = paddle.networks.dropout_layer(input=x, dropout_rate=0.5)
    said = paddle.layer.fc(kept, size=4, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=said, label=label, top_k=2)
    (evaluator,) = paddle.topology.Topology(cost).proto().evaluators
    assert (evaluator.name, evaluator.top_k) == ("classification_error_evaluator", 2)
    parameters, rows = paddle.parameters.create(said), [(np.ones(3),)]
    found = paddle.inference.Inference(said, parameters).infer(input=rows)
    np.testing.assert_array_equal(found, paddle.infer(said, parameters, rows))
