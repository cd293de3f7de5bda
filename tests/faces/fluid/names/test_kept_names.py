"""What outlives a run has the names that 1.8.5 gives it: it is saved, and read by others, under them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

pytestmark = pytest.mark.filterwarnings("ignore")


def trained() -> None:
    x = fluid.data("x", [None, 8])
    weight = fluid.ParamAttr(name="w")
    fluid.optimizer.SGD(0.1).minimize(layers.mean(layers.fc(x, 1, param_attr=weight, bias_attr=False)))


def ema(name: str | None = None) -> None:
    trained()
    fluid.optimizer.ExponentialMovingAverage(0.9, name=name).update()


def looking_ahead() -> None:
    loss = layers.mean(layers.fc(fluid.data("x", [None, 8]), 1, bias_attr=False))
    fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1)).minimize(loss)


def tags() -> list[Any]:
    return [fluid.data(name, [None, 1], "int64", lod_level=1) for name in ("said", "right")]


def clicks() -> list[Any]:
    return [fluid.data("chance", [None, 1]), fluid.data("click", [None, 1], "int64")]


EMA = ["@EMA_STEP_COUNTER@", "learning_rate_0", "scheduled_ema_decay_rate", "w"]
AHEAD = ["fc_0.w_0", "fc_0.w_0@SLOW", "learning_rate_0", "lookahead_alpha", "lookahead_k", "lookahead_step"]


@pytest.mark.parametrize(
    ("write", "names"),
    [
        (ema, [*EMA, "w_ema_0"]),
        (lambda: ema("slow_"), [*EMA, "slow_w_ema_0"]),
        (looking_ahead, AHEAD),
        (
            lambda: fluid.evaluator.ChunkEvaluator(*tags(), "IOB", 3),
            [
                "chunk_eval_0_0_num_infer_chunks",
                "chunk_eval_0_1_num_label_chunks",
                "chunk_eval_0_2_num_correct_chunks",
            ],
        ),
        (
            lambda: fluid.evaluator.EditDistance(*tags()),
            [
                "edit_distance_0_0_total_distance",
                "edit_distance_0_1_seq_num",
                "edit_distance_0_2_instance_error",
            ],
        ),
        (
            lambda: fluid.contrib.layers.ctr_metric_bundle(*clicks()),
            [f"_generated_var_{number}" for number in range(6)],
        ),
    ],
)
def test_kept_variables_have_the_names_of_the_original(write: Callable[[], Any], names: list[str]) -> None:
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        write()
    assert sorted(each.name for each in main.list_vars() if each.persistable) == sorted(names)


def test_a_second_bundle_of_click_measures_is_named_as_in_the_original() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        told = clicks()
        fluid.contrib.layers.ctr_metric_bundle(*told)
        squares, errors, *_ = fluid.contrib.layers.ctr_metric_bundle(*told)
    assert (squares.name, errors.name) == ("_generated_var_16", "_generated_var_15")


@pytest.mark.parametrize(("dim", "sizes"), [(None, (1, 1)), (0, (8, 1)), (1, (1, 4))])
def test_lengths_of_weights_have_the_sizes_of_the_original(dim: int | None, sizes: tuple[int, int]) -> None:
    main = fluid.Program()
    with fluid.program_guard(main, fluid.Program()), fluid.unique_name.guard():
        layers.fc(fluid.data("x", [None, 8]), 4, param_attr=fluid.WeightNormParamAttr(dim=dim))
    found = {each.name: tuple(each.shape) for each in main.all_parameters()}
    assert found == {"fc_0.w_0_v": (8, 4), "fc_0.w_0_g": sizes, "fc_0.b_0": (4,)}
