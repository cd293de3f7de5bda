"""Recurrent groups in v2: what a program says of one moment happens at all of them."""

from __future__ import annotations

import io

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.errors import FeedError

layer, networks = paddle.layer, paddle.networks
LENGTHS = (2, 5, 1, 3)
RNG = np.random.default_rng(4)
SEQUENCES = [RNG.normal(size=(length, 3)).astype(np.float32) for length in LENGTHS]
ROWS = [(each.tolist(),) for each in SEQUENCES]


def learned(name: str):
    return paddle.attr.Param(name=name, initial_std=0.5)


def sequences(name: str = "x"):
    return layer.data(name=name, type=paddle.data_type.dense_vector_sequence(3))


def seen(source, width: int, name: str):
    return layer.mixed(size=width, input=layer.full_matrix_projection(source, param_attr=learned(name)))


def computed(outputs, rows=ROWS, parameters=None):
    parameters = parameters or paddle.parameters.create(outputs)
    return paddle.infer(output_layer=outputs, parameters=parameters, input=rows), parameters


def parted(flat: np.ndarray) -> list[np.ndarray]:
    return np.split(flat, np.cumsum(LENGTHS)[:-1])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("state_act", [None, paddle.activation.SoftSign(), paddle.activation.Linear()])
def test_a_group_of_lstm_moments_is_lstmemory(reverse, state_act) -> None:
    acts = {}
    if state_act is not None:
        acts = {"act": paddle.activation.Relu(), "gate_act": paddle.activation.Tanh(), "state_act": state_act}
    x = seen(sequences(), 12, "in")
    whole = layer.lstmemory(x, reverse=reverse, param_attr=learned("w"), bias_attr=learned("b"), **acts)
    biases = {("mixed" if reverse else "input_proj") + "_bias_attr": learned("group_b")}  # 0.10's is mixed
    group = networks.lstmemory_group(
        x,
        size=3,
        reverse=reverse,
        param_attr=learned("group_w"),
        lstm_bias_attr=learned("group_peep"),
        **biases,
        **acts,
    )
    parameters = paddle.parameters.create([whole, group])
    parameters["group_w"] = parameters["w"].reshape(3, 12)
    parameters["group_b"], parameters["group_peep"] = parameters["b"][:, :12], parameters["b"][:, 12:]
    (one, other), _ = computed([whole, group], parameters=parameters)
    assert np.abs(one).max() > 0.01
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "acts", [{}, {"act": paddle.activation.Relu(), "gate_act": paddle.activation.Tanh()}]
)
def test_a_group_of_gru_moments_is_grumemory(reverse, acts) -> None:
    x = seen(sequences(), 12, "in")
    shared = {"param_attr": learned("w"), "bias_attr": learned("b")}
    whole = layer.grumemory(x, reverse=reverse, **shared, **acts)
    named = {f"gru_{key}": value for key, value in shared.items()}
    group = networks.gru_group(x, reverse=reverse, **named, **acts)
    (one, other), _ = computed([whole, group])
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_gru_written_out_of_layers_is_the_one_of_the_engine() -> None:
    x = seen(sequences(), 12, "in")
    group = networks.gru_group(x, gru_param_attr=learned("w"), gru_bias_attr=learned("b"), name="gru")
    written = networks.gru_group(
        x, gru_bias_attr=paddle.attr.Param(initial_std=0.5), naive=True, name="naive"
    )
    parameters = paddle.parameters.create([group, written])
    flat, place = parameters["w"].reshape(-1), "_naive_{}@naive_recurrent_group.{}"
    gates = flat[:32].reshape(4, 8)
    for number, part in enumerate(("update", "reset", "output_candidate")):
        weight = gates[:, 4 * number : 4 * number + 4] if number < 2 else flat[32:].reshape(4, 4)
        parameters[place.format(part, "w1")] = weight
        parameters[place.format(part, "wbias")] = parameters["b"][:, 4 * number : 4 * number + 4]
    (one, other), _ = computed([group, written], parameters=parameters)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reverse", [False, True])
def test_the_plainest_recurrent_layer(reverse) -> None:
    found, parameters = computed(
        layer.recurrent(sequences(), reverse=reverse, param_attr=learned("w"), bias_attr=learned("b"))
    )
    for rows, out in zip(SEQUENCES, parted(found), strict=True):
        former, step = np.zeros(3), -1 if reverse else 1
        for x, y in zip(rows[::step], out[::step], strict=True):
            former = np.tanh(x + parameters["b"][0] + former @ parameters["w"])
            np.testing.assert_allclose(y, former, rtol=1e-5, atol=1e-6)


def plain_step(word):
    former = layer.memory(name="state", size=4)
    return layer.fc(
        input=[word, former], size=4, name="state", param_attr=[learned("w"), learned("u")], bias_attr=False
    )


def test_a_program_says_what_happens_at_one_moment() -> None:
    found, parameters = computed(layer.recurrent_group(step=plain_step, input=sequences()))
    for rows, out in zip(SEQUENCES, parted(found), strict=True):
        former = np.zeros(4)
        for x, y in zip(rows, out, strict=True):
            former = np.tanh(x @ parameters["w"] + former @ parameters["u"])
            np.testing.assert_allclose(y, former, rtol=1e-5, atol=1e-6)


def test_what_is_no_layer_is_handed_on_to_the_step_as_it_is() -> None:
    told = []

    def step(word, size, reverse, name):
        told.extend([size, reverse, name])
        return plain_step(word)

    found, parameters = computed(layer.recurrent_group(step, [sequences(), 4, False, "state"]))
    expected, _ = computed(layer.recurrent_group(plain_step, sequences()), parameters=parameters)
    assert told == [4, False, "state"]
    np.testing.assert_array_equal(found, expected)


def test_parameters_are_named_as_in_the_original() -> None:
    def step(word):
        former = layer.memory(name="state", size=4, boot_bias=True)
        layer.fc(input=word, size=2)  # which nobody needs
        return layer.fc(input=[word, former], size=4, name="state")

    out = layer.recurrent_group(step=step, input=sequences(), name="g")
    config = layer.parse_network(out)
    assert {each.name for each in config.parameters} == {
        *("_state@g.w0", "_state@g.w1", "_state@g.wbias", "_state+delay1@g.wbias")
    }
    root, group = config.sub_models
    assert config.type == "recurrent_nn"
    assert list(root.layer_names) == ["x", "g", "state"]
    assert list(group.layer_names) == ["x@g", "state+delay1@g", "state@g"]
    assert group.memories[0].layer_name == "state@g"
    assert (group.in_links[0].layer_name, group.in_links[0].link_name) == ("x", "x@g")
    assert (group.out_links[0].layer_name, group.out_links[0].link_name) == ("state@g", "state")


def test_names_that_a_step_makes_of_names_are_the_originals() -> None:
    """Of layers inside a group, too, programs of the original see the short name."""

    def inner(word):
        former = layer.memory(name="state_" + word.name, size=4)
        now = layer.fc(input=[word, former], size=4, name="state_" + word.name)
        return layer.fc(input=now, size=2, name=now.name + "_out")

    def outer(sentence):
        return layer.recurrent_group(step=inner, input=sentence, name="inner")

    words = layer.data(name="x", type=paddle.data_type.dense_vector_sub_sequence(3))
    said = layer.recurrent_group(step=outer, input=layer.SubsequenceInput(words), name="outer")
    assert {each.name for each in layer.parse_network(said).parameters} == {
        *("_state_x@inner@outer.w0", "_state_x@inner@outer.w1", "_state_x@inner@outer.wbias"),
        *("_state_x_out@inner@outer.w0", "_state_x_out@inner@outer.wbias"),
    }
    assert said.name == "state_x_out"


@pytest.mark.parametrize("kind", ["layer", "bias", "zeros"])
def test_a_memory_begins_with_what_it_is_told_to(kind) -> None:
    x = sequences()
    first = layer.first_seq(x)
    boot = {"layer": {"boot_layer": first}, "bias": {"boot_bias": learned("boot")}, "zeros": {}}[kind]

    def step(word):
        former = layer.memory(name=None, size=3, **boot)
        former.set_input(word)
        return layer.addto(former)

    found, parameters = computed(layer.recurrent_group(step=step, input=x))
    for rows, out in zip(SEQUENCES, parted(found), strict=True):
        begin = {
            "layer": lambda rows=rows: rows[0],
            "bias": lambda: parameters["boot"][0],
            "zeros": lambda: 0,
        }
        np.testing.assert_allclose(out[0], begin[kind]() * np.ones(3), rtol=1e-6)
        np.testing.assert_array_equal(out[1:], rows[:-1])


def test_a_step_sees_rows_and_sequences_whole_and_may_give_several_things() -> None:
    x = sequences()
    last = layer.last_seq(x)

    def step(word, all_words, last_word):
        context = networks.simple_attention(all_words, all_words, word, softmax_param_attr=learned("v"))
        former = layer.memory(name="sum", size=3)
        total = layer.addto([former, context], name="sum")
        return total, layer.addto([word, last_word])

    inputs = [x, layer.StaticInput(x), layer.StaticInput(last, is_seq=False)]
    (sums, shifted), parameters = computed(layer.recurrent_group(step=step, input=inputs))
    transform = next(parameters[name] for name in parameters.keys() if "transform" in name)  # noqa: SIM118
    for rows, total, shift in zip(SEQUENCES, parted(sums), parted(shifted), strict=True):
        former = 0
        for word, one in zip(rows, total, strict=True):
            scores = np.tanh(word @ transform + rows) @ parameters["v"]
            weights = np.exp(scores) / np.exp(scores).sum()
            former = former + (weights * rows).sum(0)
            np.testing.assert_allclose(one, former, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(shift, rows + rows[-1], rtol=1e-6)


@pytest.mark.parametrize("kind", ["dot-product attention", "additive attention"])
def test_several_heads_attend_side_by_side(kind) -> None:
    x = sequences()
    made = networks.multi_head_attention(layer.last_seq(x), x, x, 4, 2, 3, kind)
    found, _ = computed(made)
    assert found.shape == (4, 6)
    dot = networks.dot_product_attention(x, x, layer.last_seq(x), softmax_param_attr=learned("one"))
    found, parameters = computed(dot)
    for rows, context in zip(SEQUENCES, found, strict=True):
        weights = np.exp((rows @ rows[-1]) * parameters["one"][0, 0])
        np.testing.assert_allclose(context, weights @ rows / weights.sum(), rtol=1e-4, atol=1e-5)


def nested(step_of_words, words):
    """A group over inner sequences, with one over their words inside, which goes on from the former one."""

    def outer(sentence):
        former = layer.memory(name="last", size=4)

        def inner(word):
            return step_of_words(word, former)

        states = layer.recurrent_group(step=inner, input=sentence, name="inner")
        layer.last_seq(states, name="last")
        return states

    return layer.recurrent_group(step=outer, input=layer.SubsequenceInput(words), name="outer")


def test_sequences_of_sequences_are_walked_along_as_one_where_each_goes_on_from_the_one_before() -> None:
    def step(word, former=None):
        state = layer.memory(name="state", size=4, boot_layer=former)
        attrs = [learned("w"), learned("u")]
        return layer.fc(input=[word, state], size=4, name="state", param_attr=attrs, bias_attr=learned("b"))

    flat = layer.recurrent_group(step=step, input=sequences())
    words = layer.data(name="nested", type=paddle.data_type.dense_vector_sub_sequence(3))
    one, parameters = computed(flat)
    cuts = [[1], [2, 3], [], [1, 2]]
    rows = [
        ([part.tolist() for part in np.split(rows, cut)],) for rows, cut in zip(SEQUENCES, cuts, strict=True)
    ]
    other, _ = computed(nested(step, words), rows, parameters)
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_group_of_ids_looks_them_up_inside() -> None:
    words = layer.data(name="words", type=paddle.data_type.integer_value_sequence(7))

    def step(word):
        vector = layer.embedding(word, 3, param_attr=learned("table"))
        former = layer.memory(name="sum", size=3)
        return layer.addto([vector, former], name="sum")

    found, parameters = computed(layer.recurrent_group(step=step, input=words), [([1, 6, 2],), ([4],)])
    np.testing.assert_allclose(found[:3], np.cumsum(parameters["table"][[1, 6, 2]], axis=0), rtol=1e-6)
    np.testing.assert_array_equal(found[3], parameters["table"][4])


def test_what_a_group_and_a_layer_learn_is_the_same() -> None:
    trained = []
    for make in (layer.grumemory, networks.gru_group):
        is_layer = make is layer.grumemory
        prefix = "" if is_layer else "gru_"
        attrs = {f"{prefix}param_attr": learned("w"), f"{prefix}bias_attr": learned("b")}
        state = make(seen(sequences(), 12, "in"), **attrs)
        label = layer.data(name="label", type=paddle.data_type.integer_value(2))
        act = paddle.activation.Softmax()
        last = layer.fc(layer.last_seq(state), size=2, act=act, param_attr=learned("out"), bias_attr=False)
        cost = layer.classification_cost(last, label)
        parameters = paddle.parameters.create(cost)
        trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.05))
        rows = [(*row, number % 2) for number, row in enumerate(ROWS)]
        costs = []
        trainer.train(
            paddle.batch(lambda rows=rows: iter(rows), 2),
            num_passes=20,
            event_handler=lambda e, costs=costs: costs.append(getattr(e, "cost", None)),
        )
        found = [each for each in costs if each is not None]
        assert sum(found[-2:]) < 0.5 * sum(found[:2])
        trained.append({name: parameters[name] for name in ("in", "w", "b", "out")})
    for name, value in trained[0].items():
        np.testing.assert_allclose(value, trained[1][name], rtol=1e-3, atol=1e-4)


def test_a_saved_network_has_its_groups() -> None:
    out = layer.recurrent_group(step=plain_step, input=sequences(), reverse=True)
    found, parameters = computed(out)
    file = io.BytesIO()
    paddle.topology.Topology(out).serialize_for_inference(file)
    file.seek(0)
    again = paddle.inference.Inference(parameters, fileobj=file).infer(ROWS)
    np.testing.assert_array_equal(found, again)


def test_what_a_step_reads_of_the_outside_it_is_given() -> None:
    x = sequences()
    outside = layer.last_seq(x)
    inside = []

    def step(word):
        inside.append(word)
        return layer.addto([word, outside])

    with pytest.raises(ValueError, match=r"stands outside the recurrent group.*StaticInput"):
        layer.recurrent_group(step=step, input=x)
    with pytest.raises(ValueError, match="only what its step returns"):
        layer.addto(inside[0])
    with pytest.raises(RuntimeError, match="inside one"):
        layer.memory(name="a", size=3)
    with pytest.raises(ValueError, match="inside a recurrent group"):
        layer.recurrent_group(step=lambda word: sequences("y"), input=x)


def test_a_memory_remembers_a_layer_of_its_size() -> None:
    def forgetful(word):
        return layer.addto([word, layer.memory(name="nobody", size=3)])

    def wide(word):
        return layer.fc([word, layer.memory(name="sum", size=4)], size=3, name="sum")

    def unsaid(word):
        return layer.addto([word, layer.memory(name=None, size=3)])

    x = sequences()
    for step, message in ((forgetful, "'nobody'"), (wide, "size 4"), (unsaid, "set_input")):
        with pytest.raises(ValueError, match=message):
            layer.recurrent_group(step=step, input=x)


def test_inputs_of_a_group_are_of_equal_lengths() -> None:
    def step(one, other):
        return layer.addto([one, other, layer.memory(name="sum", size=3)], name="sum")

    out = layer.recurrent_group(step=step, input=[sequences("a"), sequences("b")])
    with pytest.raises(FeedError, match="unequal lengths"):
        computed(out, [(ROWS[0][0], ROWS[3][0]), (ROWS[3][0], ROWS[0][0])])
    with pytest.raises(ValueError, match="has no sequence"):
        layer.recurrent_group(step=step, input=[layer.StaticInput(layer.last_seq(sequences("c")))])


def test_arguments_of_units_may_be_given_by_their_place() -> None:
    x, weight, boot = seen(sequences(), 12, "in"), learned("by_place"), None
    made = [
        networks.lstmemory_group(x, 3, "lstm", boot, False, weight),
        networks.gru_group(x, boot, 4, "gru", True, False, weight),
        networks.simple_gru(x, 4, "simple", False, learned("mixed"), False, None, False, weight),
    ]
    for group in made:
        assert "by_place" in paddle.parameters.create(group)
    outputs = [
        networks.lstmemory_group(x, 3, get_output_layer_attr=paddle.attr.Extra(error_clipping_threshold=1))
    ]
    assert computed(outputs)[0].shape == (sum(LENGTHS), 3)
