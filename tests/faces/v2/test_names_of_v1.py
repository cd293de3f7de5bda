"""Programs of v2 that take names from v1's packages: they are v2's own, and others say what to write."""

import importlib
import io
import struct
import tarfile

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import NotInThisRelease

V1 = importlib.import_module("paddle.trainer_config_helpers")
SPELLED = [
    ("fc_layer", paddle.layer.fc),
    ("maxid_layer", paddle.layer.max_id),
    ("print_layer", paddle.layer.printer),
    ("cross_entropy", paddle.layer.cross_entropy_cost),
    ("last_seq", paddle.layer.last_seq),
    ("img_conv3d_layer", paddle.layer.img_conv3d),
    ("TanhActivation", paddle.activation.Tanh),
    ("SequenceSoftmaxActivation", paddle.activation.SequenceSoftmax),
    ("MaxWithMaskPooling", paddle.pooling.MaxWithMask),
    ("ParamAttr", paddle.attr.Param),
    ("simple_lstm", paddle.networks.simple_lstm),
    ("AdamOptimizer", paddle.optimizer.Adam),
    ("sum_evaluator", paddle.evaluator.sum),
    ("parse_network", paddle.layer.parse_network),
]


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    """The package ``paddle.trainer``, once it is imported, stands where others look for v2's module."""
    top = importlib.import_module("paddle")
    monkeypatch.setattr(top, "trainer", top.trainer)


@pytest.mark.parametrize(("name", "own"), SPELLED, ids=[name for name, _ in SPELLED])
def test_a_name_of_v1_is_v2s_own(name, own) -> None:
    assert getattr(V1, name) is own
    assert name in V1.layers.__all__ or any(
        name in module.__all__
        for module in (
            *(V1.activations, V1.attrs, V1.parsing, V1.evaluators),
            *(V1.networks, V1.optimizers, V1.poolings),
        )
    )


def test_every_layer_of_v2_has_its_name_of_v1() -> None:
    given = {id(value) for value in vars(V1).values()}
    without = {"data", "parse_network"}
    missing = [
        n for n in paddle.layer.__all__ if n not in without and id(getattr(paddle.layer, n)) not in given
    ]
    assert missing == []


def test_a_program_may_write_a_network_by_them() -> None:
    type = paddle.data_type.dense_vector(3)
    seen = V1.fc_layer(paddle.layer.data(name="x", type=type), size=4, act=V1.ReluActivation(), name="seen")
    out = V1.mixed_layer(size=2, input=V1.full_matrix_projection(seen), act=V1.SoftmaxActivation())
    parameters = paddle.parameters.create(out)
    found = paddle.infer(out, parameters, [(np.ones(3),)])
    assert found.shape == (1, 2)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("settings", r"paddle.trainer.SGD\(update_equation"),
        ("outputs", r"paddle.trainer.SGD\(cost="),
        ("inputs", "feeding="),
        ("define_py_data_sources2", r"trainer.train\(paddle.batch"),
        ("data_layer", r"paddle.layer.data\(name="),
        ("get_config_arg", "sys.argv"),
        ("parse_trainer_config", "paddle.trainer.SGD"),
        ("parse_network_config", "parse_network takes"),
    ],
)
def test_what_a_configuration_file_said_says_what_a_program_writes(name, instead) -> None:
    with pytest.raises(NotInThisRelease, match=f"^paddle.trainer_config_helpers.{name} is not .*{instead}"):
        getattr(V1, name)(learning_rate=1)


@pytest.mark.parametrize("name", ["recurrent_units", "config_parser"])
def test_so_do_modules_of_v1s_trainer(name) -> None:
    with pytest.raises(ImportError, match=f"^paddle.trainer.{name} is not in this release: "):
        importlib.import_module(f"paddle.trainer.{name}")
    trainer = importlib.import_module("paddle.trainer")
    assert trainer.SGD is paddle.trainer.SGD
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        _ = trainer.nowhere


def test_types_of_slots_are_v2s_own_and_a_data_provider_says_what_a_program_writes() -> None:
    provider = importlib.import_module("paddle.trainer.PyDataProvider2")
    assert provider.dense_vector is provider.dense_slot is paddle.data_type.dense_vector
    assert provider.integer_value_sequence(3) == paddle.data_type.integer_value_sequence(3)
    assert set(paddle.data_type.__all__) < set(provider.__all__)
    with pytest.raises(NotInThisRelease, match="provider is not in this release: write a reader"):

        @provider.provider(input_types=[provider.dense_vector(3)], cache=provider.CacheType.NO_CACHE)
        def process(settings, filename):
            yield [1.0, 2.0, 3.0]


def test_functions_of_layers_are_those_of_v2() -> None:
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    math = V1.layer_math
    assert math.exp is paddle.op.exp and math.reciprocal is paddle.op.reciprocal
    row = np.array([1.0, -2.0, 0.5])
    for layer, expected in (
        (math.sub(math.mul(x, 2), 1), 2 * row - 1),
        (math.rsub(math.add(x, 1), 3), 3 - (row + 1)),
        (math.rsub(x, math.square(x)), row * row - row),
    ):
        found = paddle.infer(layer, paddle.parameters.create(layer), [(row,)])
        np.testing.assert_allclose(found[0], expected, rtol=1e-6)


def test_arguments_of_a_programs_own_functions_have_defaults_as_layers_have() -> None:
    defaults = importlib.import_module("paddle.trainer_config_helpers.default_decorators")

    @defaults.wrap_name_default("kind")
    @defaults.wrap_act_default(act=V1.ReluActivation())
    @defaults.wrap_param_attr_default()
    @defaults.wrap_bias_attr_default(["learned"])
    @defaults.wrap_bias_attr_default(["plain"], has_bias=False)
    def shown(size, name=None, act=None, param_attr=None, learned=None, plain=None):
        return size, name, act.name, type(param_attr), type(learned), type(plain)

    attr, none, boolean = paddle.attr.Param, type(None), bool
    assert shown(1) == (1, "__kind_0__", "relu", attr, attr, none)
    assert shown(2, name="own", learned=False, plain=True) == (2, "own", "relu", attr, boolean, attr)
    assert shown(size=3, act=V1.TanhActivation())[1:3] == ("__kind_1__", "tanh")


def test_a_program_writes_parameters_by_messages_of_their_own() -> None:
    from paddle.proto.ParameterConfig_pb2 import ParameterConfig

    message = importlib.import_module("paddle.proto").ParameterConfig()
    message.name, message.size = "w", np.prod((3, 2))
    message.dims.extend((3, 2))
    file = io.BytesIO()
    with tarfile.TarFile(fileobj=file, mode="w") as tar:
        head, values = message.SerializeToString(), np.arange(6, dtype=np.float32)
        for name, content in (("w.protobuf", head), ("w", struct.pack("IIQ", 0, 4, 6) + values.tobytes())):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    file.seek(0)
    read = paddle.parameters.Parameters.from_tar(file)
    np.testing.assert_array_equal(read["w"], values.reshape(3, 2))
    assert ParameterConfig.FromString(head) == message
    network = importlib.import_module("paddle.proto.ModelConfig_pb2").ModelConfig
    type = paddle.data_type.dense_vector(3)
    layer = paddle.layer.fc(paddle.layer.data(name="x", type=type), size=2)
    assert isinstance(paddle.layer.parse_network(layer), network)


def test_messages_of_v1s_trainer_are_refused_by_name_and_not_where_they_are_imported() -> None:
    from paddle.proto import TrainerConfig_pb2

    with pytest.raises(AttributeError, match=r"TrainerConfig_pb2.TrainerConfig is not .*Topology\(cost\)"):
        _ = TrainerConfig_pb2.TrainerConfig
    with pytest.raises(ImportError, match=r"TrainerConfig_pb2.TrainerConfig is not .*Topology\(cost\)"):
        from paddle.proto.TrainerConfig_pb2 import TrainerConfig  # noqa: F401


def test_images_are_cut_turned_and_lessened_by_a_mean() -> None:
    images = importlib.import_module("paddle.utils.image_util")
    image = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
    np.testing.assert_array_equal(images.crop_img(image, 2), image[:, 1:3, 1:3])
    framed = images.crop_img(image[0], 6, color=False)
    np.testing.assert_array_equal(framed, np.pad(image[0], ((1, 1), (0, 1))))
    row = images.preprocess_img(image, 1.0, 2, is_train=False)
    np.testing.assert_array_equal(row, image[:, 1:3, 1:3].ravel() - 1.0)
    pieces = images.oversample([image.transpose(1, 2, 0)], (2, 3))
    assert pieces.shape == (10, 2, 3, 3)
    np.testing.assert_array_equal(pieces[3], image[:, 2:, 2:].transpose(1, 2, 0))
    np.testing.assert_array_equal(pieces[5:], pieces[:5, :, ::-1])
    change = images.ImageTransformer((2, 0, 1), (2, 1, 0), np.array([1.0, 2.0, 3.0]))
    expected = image[::-1] - np.array([1.0, 2.0, 3.0])[:, None, None]
    np.testing.assert_array_equal(change.transformer(image.transpose(1, 2, 0)), expected)
