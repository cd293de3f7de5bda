"""Layers: the names, sizes, parameters and messages of the original."""

import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease


def dense(name="x", size=4):
    return paddle.layer.data(name=name, type=paddle.data_type.dense_vector(size))


def ids(name="i", size=7):
    return paddle.layer.data(name=name, type=paddle.data_type.integer_value(size))


def rows(size):
    return paddle.layer.data(name="x", type=paddle.data_type.dense_vector_sequence(size))


def parameters_of(layer):
    return {config.name: config for config in paddle.layer.parse_network(layer).parameters}


def test_layers_are_named_in_the_order_in_which_they_are_written():
    x = dense()
    layers = [paddle.layer.fc(input=x, size=2), paddle.layer.fc(input=x, size=2)]
    assert [layer.name for layer in layers] == ["__fc_layer_0__", "__fc_layer_1__"]
    assert paddle.layer.fc(input=x, size=2, name="mine").name == "mine"
    others = {
        paddle.layer.embedding(input=ids(), size=3).name: "__embedding_0__",
        paddle.layer.concat(input=layers).name: "__concat_0__",
        paddle.layer.addto(input=layers).name: "__addto_0__",
        paddle.layer.dropout(input=x, dropout_rate=0.1).name: "__dropout_0__",
        paddle.layer.max_id(input=x).name: "__maxid_layer_0__",
        paddle.layer.square_error_cost(input=x, label=dense("y")).name: "__square_error_cost_0__",
        paddle.op.exp(x).name: "__exp_0__",
        (x + 1).name: "__slope_intercept_layer_0__",
    }
    assert all(name == expected for name, expected in others.items())


def test_a_fully_connected_layer_has_a_weight_for_each_input_and_a_bias():
    found = parameters_of(paddle.layer.fc(input=[dense("x", 4), dense("y", 9)], size=5))
    assert {name: list(config.dims) for name, config in found.items()} == {
        "___fc_layer_0__.w0": [4, 5],
        "___fc_layer_0__.w1": [9, 5],
        "___fc_layer_0__.wbias": [1, 5],
    }
    assert [config.size for config in found.values()] == [20, 45, 5]


def test_a_weight_starts_normal_by_its_height_and_a_bias_at_zero():
    weight, bias = parameters_of(paddle.layer.fc(input=dense(size=16), size=5)).values()
    assert (weight.initial_mean, weight.initial_std, weight.initial_smart) == (0, 0.25, True)
    assert (bias.initial_mean, bias.initial_std, bias.initial_smart) == (0, 0, False)


def test_attributes_say_how_parameters_start_and_learn():
    attr = paddle.attr.Param(
        name="w", initial_mean=1, initial_std=0.5, learning_rate=2, l2_rate=0, l1_rate=0.1, momentum=0.3
    )
    (config,) = parameters_of(
        paddle.layer.fc(input=dense(), size=2, param_attr=attr, bias_attr=False)
    ).values()
    assert (config.name, config.initial_mean, config.initial_std, config.initial_strategy) == ("w", 1, 0.5, 0)
    assert (config.learning_rate, config.decay_rate, config.decay_rate_l1, config.momentum) == (
        2,
        0,
        0.1,
        0.3,
    )
    assert config.HasField("decay_rate") and not config.HasField("gradient_clipping_threshold")


def test_initial_min_and_max_are_a_uniform_start():
    config, _ = paddle.attr.Param(initial_min=-1.0, initial_max=3.0).configure("w", [2, 2])
    assert (config.initial_mean, config.initial_std, config.initial_strategy) == (1, 2, 1)


def test_a_bias_with_an_attribute_that_says_nothing_of_its_start_starts_as_a_weight_does():
    bias = list(
        parameters_of(
            paddle.layer.fc(input=dense(), size=2, bias_attr=paddle.attr.Param(learning_rate=2))
        ).values()
    )[1]
    assert (bias.initial_std, bias.initial_smart, bias.learning_rate) == (1.0, True, 2.0)


def test_static_parameters_have_no_rates():
    config, _ = paddle.attr.Param(is_static=True, learning_rate=3, l2_rate=1).configure("w", [2, 2])
    assert config.is_static and not config.HasField("learning_rate") and not config.HasField("decay_rate")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"initial_min": 0.0}, "given together"),
        ({"initial_min": 1.0, "initial_max": 1.0}, "must be below"),
        ({"initial_std": "0.1"}, "initial_std is a number, not '0.1'"),
        ({"learning_rate": True}, "learning_rate is a number, not True"),
        ({"initializer": 3}, "initializer must be a callable"),
        ({"update_hooks": object()}, "update_hooks is paddle.attr.Hook"),
        ({"initial_std": -0.1}, "initial_std is 0 or more, not -0.1"),
        ({"initial_mean": float("nan")}, "initial_mean is NaN"),
        ({"momentum": 1.5}, "momentum is from 0 to 1, not 1.5"),
        ({"l2_rate": "a"}, "l2_rate is a number, not 'a'"),
        ({"gradient_clipping_threshold": -1}, "gradient_clipping_threshold is 0 or more"),
    ],
)
def test_bad_attributes_are_refused_when_they_are_made(arguments, error):
    with pytest.raises((ValueError, TypeError, NotInThisRelease), match=error):
        paddle.attr.Param(**arguments)


def test_tables_of_one_name_are_one_parameter():
    proj = paddle.attr.Param(name="_proj", initial_std=0.001, learning_rate=1, l2_rate=0, sparse_update=True)
    vectors = [paddle.layer.embedding(input=ids(name), size=3, param_attr=proj) for name in "ab"]
    (config,) = parameters_of(paddle.layer.concat(input=vectors)).values()
    assert (config.name, list(config.dims), config.initial_std) == ("_proj", [7, 3], 0.001)
    assert config.sparse_update and config.sparse_remote_update


def test_a_shared_parameter_must_have_one_shape():
    name = paddle.attr.Param(name="w")
    layers = [paddle.layer.fc(input=dense(n, k), size=2, param_attr=name) for n, k in (("x", 3), ("y", 4))]
    with pytest.raises(
        ValueError, match=r"shares the parameter 'w' as \[4, 2\], which another layer made \[3, 2\]"
    ):
        paddle.topology.Topology(layers)


def test_projections_are_added_in_a_mixed_layer():
    x, i = dense(), ids()
    with paddle.layer.mixed(size=4, bias_attr=True) as both:
        both += paddle.layer.full_matrix_projection(input=x)
        both += paddle.layer.table_projection(input=i)
        both += paddle.layer.identity_projection(input=x)
    found = parameters_of(both)
    assert {name: list(config.dims) for name, config in found.items()} == {
        "___mixed_0__.w0": [4, 4],
        "___mixed_0__.w1": [7, 4],
        "___mixed_0__.wbias": [1, 4],
    }
    assert both.size == 4 and [each.proj_conf.type for each in both.config.inputs] == [
        "fc",
        "table",
        "identity",
    ]
    with pytest.raises(RuntimeError, match="inside its `with` block"):
        both += paddle.layer.identity_projection(input=x)
    with pytest.raises(ValueError, match=r"sizes \[4, 5\]"):
        paddle.layer.mixed(size=5, input=paddle.layer.identity_projection(input=x))


def test_a_network_holds_what_its_outputs_need_in_the_order_of_writing():
    y, x = dense("y", 2), dense("x", 4)
    dense("unused")
    predicted = paddle.layer.fc(input=x, size=2, act=paddle.activation.Linear())
    topology = paddle.topology.Topology(paddle.layer.square_error_cost(input=predicted, label=y))
    assert [name for name, _ in topology.data_type()] == ["y", "x"]
    assert [layer.name for layer in topology.proto().layers] == [
        "y",
        "x",
        predicted.name,
        "__square_error_cost_0__",
    ]
    assert topology.get_layer(predicted.name) is predicted and topology.get_layer("unused") is None
    assert topology.get_layer_proto("x").type == "data" and set(topology.data_layers()) == {"x", "y"}
    assert paddle.topology.Topology(predicted).data_type() == [("x", paddle.data_type.dense_vector(4))]


def test_a_deep_network_is_no_problem():
    layer = dense()
    for _ in range(3000):
        layer = layer + 1.0
    assert len(paddle.topology.Topology(layer).proto().layers) == 3001


def test_the_message_of_a_network_reads_as_the_original_writes_it():
    x = dense("feature", 200)
    label = ids("label", 10)
    out = paddle.layer.fc(
        input=x,
        size=10,
        act=paddle.activation.Softmax(),
        bias_attr=False,
        param_attr=paddle.attr.Param(name="softmax_param", initial_max=1.0, initial_min=-1.0),
    )
    text = str(paddle.layer.parse_network(paddle.layer.classification_cost(input=out, label=label)))
    for part in (
        'layers {\n  name: "feature"\n  type: "data"\n  size: 200\n  active_type: ""\n}',
        'name: "__cost_0__"\n  type: "multi-class-cross-entropy"\n  size: 1',
        'input_parameter_name: "softmax_param"',
        "initial_mean: 0.0\n  initial_std: 1.0\n  dims: 200\n  dims: 10\n  initial_strategy: 1\n  "
        "initial_smart: false",
        'evaluators {\n  name: "classification_error_evaluator"\n  type: "classification_error"',
        'output_layer_names: "__cost_0__"',
    ):
        assert part in text


def test_two_layers_of_one_name_cannot_be_in_one_network():
    both = [dense("x"), dense("x")]
    with pytest.raises(ValueError, match="two layers of one network are called 'x'"):
        paddle.topology.Topology(paddle.layer.addto(input=both))


@pytest.mark.parametrize(
    ("write", "error"),
    [
        (lambda: paddle.layer.fc(input=ids(), size=2), "'i' gives ids: use paddle.layer.embedding"),
        (lambda: paddle.layer.fc(input="x", size=2), "an input is a layer, not 'x'"),
        (lambda: paddle.layer.fc(input=3, size=2), "an input is a layer, not 3"),
        (lambda: paddle.layer.fc(input=[], size=2), "has no input"),
        (lambda: paddle.layer.fc(input=dense(), size=2, act="relu"), r"act is an activation such as"),
        (lambda: paddle.layer.embedding(input=dense(), size=2), "data layer of type integer_value"),
        (lambda: paddle.layer.addto(input=[dense("x", 2), dense("y", 3)]), "unequal sizes"),
        (
            lambda: paddle.layer.classification_cost(input=dense(), label=ids()),
            "needs an input with act=Softmax",
        ),
        (lambda: paddle.layer.square_error_cost(input=dense(), label=ids()), r"type dense_vector\(4\)"),
        (
            lambda: paddle.layer.cross_entropy_cost(input=dense(), label=dense("y")),
            r"type integer_value\(4\)",
        ),
        (lambda: paddle.layer.data(name="x", type=13), "type is one of paddle.data_type"),
        (
            lambda: paddle.layer.fc(
                input=[dense(), dense("y")], size=2, param_attr=paddle.attr.Param(name="w")
            ),
            "give param_attr as a list",
        ),
        (
            lambda: paddle.layer.concat(input=[dense(), paddle.layer.identity_projection(dense("y"))]),
            "not both",
        ),
        (lambda: paddle.attr.Extra(drop_rate=1.0), "drop_rate is a share"),
        (lambda: paddle.attr.Extra(drop_rate="a"), "drop_rate is a number, not 'a'"),
        (lambda: paddle.layer.fc(input=dense(), size=0, name="f"), "layer 'f': its size is 0"),
        (lambda: paddle.layer.fc(input=dense(), size=-2), "'__fc_layer_0__': its size is -2"),
        (lambda: paddle.layer.fc(input=dense(), size=3.7), "its size is an integer, not 3.7"),
        (lambda: paddle.layer.embedding(input=ids(), size=2.5), "'__embedding_0__': its size is an integer"),
        (
            lambda: paddle.evaluator.classification_error(input=dense(), label=dense("y", size=5)),
            r"its label is a data layer of type integer_value\(4\)",
        ),
        (
            lambda: paddle.evaluator.classification_error(
                input=dense(), label=ids(size=4), weight=dense("w", 2)
            ),
            "its weight has size 2",
        ),
        (lambda: paddle.evaluator.sum(input=ids()), "'i' gives ids"),
        (lambda: paddle.evaluator.sum(input="x"), "reads layers, not 'x'"),
        (lambda: dense() + "a", "added to a layer or a number"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is_written(write, error):
    with pytest.raises((ValueError, TypeError), match=error):
        write()


DROP_NOTHING = ["data", "maxid", "slope_intercept", "square_error", "sum_cost"]


@pytest.mark.parametrize("type", [*DROP_NOTHING, "recurrent"])
def test_a_layer_that_does_not_drop_says_so(type):
    drop = paddle.attr.Extra(drop_rate=0.5)
    layer = paddle.layer
    write = {
        "data": lambda: layer.data(name="l", type=paddle.data_type.dense_vector(4), layer_attr=drop),
        "maxid": lambda: layer.max_id(input=dense(), name="l", layer_attr=drop),
        "slope_intercept": lambda: layer.slope_intercept(input=dense(), name="l", layer_attr=drop),
        "square_error": lambda: layer.mse_cost(input=dense(), label=dense("y"), name="l", layer_attr=drop),
        "sum_cost": lambda: layer.sum_cost(input=dense(), name="l", layer_attr=drop),
        "recurrent": lambda: layer.recurrent(input=rows(4), name="l", layer_attr=drop),
    }
    with pytest.raises(ValueError, match=f"layer 'l': a layer of type '{type}' does not support drop_rate"):
        write[type]()


def test_layers_that_drop_do():
    drop = paddle.attr.Extra(drop_rate=0.5)
    layer, x = paddle.layer, dense()
    for dropped in (
        layer.fc(input=x, size=2, layer_attr=drop),
        layer.addto(input=x, layer_attr=drop),
        layer.concat(input=[x], layer_attr=drop),
        layer.concat(input=[layer.identity_projection(x)], layer_attr=drop),
        layer.embedding(input=ids(), size=2, layer_attr=drop),
        layer.seq_reshape(input=rows(4), reshape_size=2, layer_attr=drop),
        layer.tensor(a=x, b=x, size=2, layer_attr=drop),
        layer.row_conv(input=rows(4), context_len=2, layer_attr=drop),
    ):
        assert dropped.config.drop_rate == 0.5


def test_rows_are_updated_only_of_what_is_looked_up_in():
    sparse = paddle.attr.Param(sparse_update=True)
    bag = paddle.layer.data(name="bag", type=paddle.data_type.sparse_binary_vector(9))
    words = dense()
    for layer in (
        paddle.layer.fc(input=[bag, words], size=2, param_attr=[sparse, paddle.attr.Param()]),
        paddle.layer.mixed(input=paddle.layer.full_matrix_projection(bag, size=2, param_attr=sparse)),
    ):
        assert layer.parameters[0][0].sparse_update and layer.parameters[0][0].dims == [9, 2]
    for write, name in (
        (lambda: paddle.layer.fc(input=words, size=2, name="f", param_attr=sparse), "_f.w0"),
        (lambda: paddle.layer.fc(input=words, size=2, name="f", bias_attr=sparse), "_f.wbias"),
        (
            lambda: paddle.layer.mixed(
                input=paddle.layer.full_matrix_projection(words, size=2, param_attr=sparse), name="f"
            ),
            "_f.w0",
        ),
    ):
        with pytest.raises(NotInThisRelease, match=f"layer 'f': sparse_update of the parameter '{name}'"):
            write()


def test_evaluators_of_one_name_in_one_network_are_told_apart():
    x = dense()
    label, other = ids("label", 3), ids("other", 3)
    costs = [
        paddle.layer.classification_cost(
            input=paddle.layer.fc(input=x, size=3, act=paddle.activation.Softmax()), label=each
        )
        for each in (label, other, label)
    ]

    def names(layers):
        return [each.name for each in paddle.layer.parse_network(layers).evaluators]

    first = "classification_error_evaluator"
    assert names(costs) == [first, f"{first}_1", f"{first}_2"]
    assert names(costs[2]) == names(costs[1]) == names(costs[0]) == [first]


def test_dropout_on_a_softmax_is_refused():
    with pytest.raises(ValueError, match="dropout would undo its softmax"):
        paddle.layer.fc(
            input=dense(),
            size=2,
            act=paddle.activation.Softmax(),
            layer_attr=paddle.attr.Extra(drop_rate=0.5),
        )


def test_a_layer_bounds_the_error_that_goes_back_through_it_where_it_can():
    bound = paddle.attr.Extra(error_clipping_threshold=0.5)
    layer = paddle.layer.fc(input=dense(), size=2, layer_attr=bound)
    assert layer.config.error_clipping_threshold == 0.5
    assert not paddle.attr.Extra(error_clipping_threshold=0).error_clipping_threshold
    with pytest.raises(ValueError, match="does not support error_clipping_threshold: give it"):
        paddle.layer.sum_cost(input=layer, layer_attr=bound)
    with pytest.raises(ValueError, match="error_clipping_threshold is 0 or more, not -1"):
        paddle.attr.Extra(error_clipping_threshold=-1)


def test_other_names_of_a_later_release_say_so():
    for use in (
        lambda: paddle.attr.Hook("dynamic_pruning"),
        lambda: paddle.attr.Param(update_hooks=paddle.attr.Hook("pruning"), sparse_update=True),
        lambda: paddle.attr.Extra(device=0),
        lambda: paddle.evaluator.classification_error(input=dense(size=1), label=ids(size=2)),
    ):
        with pytest.raises(NotInThisRelease, match=r"not in this release|later release"):
            use()


def test_every_documented_module_is_there():
    for name in paddle.__all__:
        assert getattr(paddle, name) is not None
    assert paddle.batch is paddle.minibatch.batch and paddle.infer is paddle.inference.infer
    assert paddle.layer.mse_cost is paddle.layer.regression_cost is paddle.layer.square_error_cost
    assert paddle.pooling.Sum().strategy == "sum" and paddle.pooling.Max().name == "max"
    with pytest.raises(AttributeError, match="no attribute 'fluids'"):
        _ = paddle.fluids
