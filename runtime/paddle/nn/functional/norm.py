"""Normalization: ``paddle.nn.functional.layer_norm`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: the parameters and
averages are those given; the operator changes the averages where it trains.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paddle.tensor._append import append_all

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]

_OF_BATCH = ("Y", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance")


def layer_norm(
    x: Any,
    normalized_shape: Any,
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> Any:
    """Each sample's last axes to mean 0 and variance 1, then times ``weight`` and plus ``bias``."""
    sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
    begin = len(x.shape) - len(sizes)
    if begin < 0 or any(a != b for a, b in zip(x.shape[begin:], sizes, strict=True) if a >= 0):
        raise ValueError(f"layer_norm of {sizes}: the last axes of {list(x.shape)} are not these")
    attrs = {"epsilon": epsilon, "begin_norm_axis": begin}
    inputs = {"X": x, "Scale": weight, "Bias": bias}
    assert prod(sizes) > 0
    return append_all("layer_norm", inputs, attrs, outputs=("Mean", "Variance", "Y"), name=name)[2]


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-05,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Each channel to mean 0 and variance 1, of the batch in training, of what was seen in tests."""
    from paddle import _mode
    from paddle._program.writing.layer_helper import LayerHelper

    _mode.need_static("paddle.nn.functional.batch_norm")
    helper = LayerHelper("batch_norm", name=name)
    mean, variance, made = (helper.create_variable_for_type_inference(x.dtype) for _ in range(3))
    outputs = [made, running_mean, running_var, mean, variance]
    given = {"X": x, "Scale": weight, "Bias": bias, "Mean": running_mean, "Variance": running_var}
    helper.append_op(
        type="batch_norm",
        inputs={slot: [each] for slot, each in given.items() if each is not None},
        outputs={slot: [variable] for slot, variable in zip(_OF_BATCH, outputs, strict=True)},
        attrs={
            "momentum": momentum,
            "epsilon": epsilon,
            "is_test": not training,
            "data_layout": "NCHW" if data_format[1] == "C" else "NHWC",
            "use_mkldnn": False,
            "fuse_with_relu": False,
            "use_global_stats": not training if use_global_stats is None else use_global_stats,
            "trainable_statistics": False,
        },
    )
    return made


def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-05,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each of ``num_groups`` groups of channels of a sample to mean 0 and variance 1."""
    layout = "NCHW" if data_format[1] == "C" else "NHWC"
    attrs = {"epsilon": epsilon, "groups": num_groups, "data_layout": layout}
    inputs = {"X": x, "Scale": weight, "Bias": bias}
    return append_all("group_norm", inputs, attrs, outputs=("Mean", "Variance", "Y"), name=name)[2]


def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-05,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each channel of a sample to mean 0 and variance 1; averages are of no account, as in the original."""
    inputs = {"X": x, "Scale": weight, "Bias": bias}
    slots = ("SavedMean", "SavedVariance", "Y")
    return append_all("instance_norm", inputs, {"epsilon": eps}, outputs=slots, name=name)[2]
