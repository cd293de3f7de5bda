"""Programs of v2 that take names from v1's packages: they are v2's own, and others say what to write."""

import importlib

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
    without = {"data", "mse_cost", "huber_cost", "parse_network"}
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


@pytest.mark.parametrize("name", ["PyDataProvider2", "config_parser"])
def test_so_do_modules_of_v1s_trainer(name) -> None:
    with pytest.raises(ImportError, match=f"^paddle.trainer.{name} is not in this release: "):
        importlib.import_module(f"paddle.trainer.{name}")
    trainer = importlib.import_module("paddle.trainer")
    assert trainer.SGD is paddle.trainer.SGD
    with pytest.raises(AttributeError, match="no attribute 'nowhere'"):
        _ = trainer.nowhere
