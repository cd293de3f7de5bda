"""Layers of click-through programs: columns normalized by counts, and counts of shows and clicks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paddle._program.description.variable import Parameter, Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr

__all__ = ["continuous_value_model", "data_norm"]

_COUNTS = (
    ("batch_size", "BatchSize", 1e4),
    ("batch_sum", "BatchSum", 0.0),
    ("batch_square_sum", "BatchSquareSum", 1e4),
)
_WEIGHTS = (("scale_w", "scale_w", 1.0), ("bias", "bias", 0.0))


def data_norm(
    input: Variable,
    act: str | None = None,
    epsilon: float = 1e-05,
    param_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    slot_dim: int = -1,
    sync_stats: bool = False,
    summary_decay_rate: float = 0.9999999,
    enable_scale_and_shift: bool = False,
) -> Variable:
    """Each column less its mean, over its deviation, both of counts that outlive a step: how many samples
    there were, their sum, and their squares about the mean.

    The counts are trainable parameters, ``<name>.batch_size``, ``.batch_sum`` and ``.batch_square_sum``, that
    an optimizer moves by those of a batch. ``param_attr``: what they, and ``scale_w`` and ``bias``, begin as.
    ``slot_dim``: columns are slots of so many; one whose first column is 0 was never shown, and is 0.
    """
    if data_layout not in ("NCHW", "NHWC"):
        raise BadArgument(f"data_norm: data_layout is 'NCHW' or 'NHWC', not {data_layout!r}")
    if input.ndim != 2:
        raise BadArgument(f"data_norm: input is (samples, columns), and {input.name!r} has {input.shape}")
    if not 0 <= epsilon <= 1e-3:
        raise BadArgument(f"data_norm: epsilon lies between 0 and 0.001, and {epsilon} does not")
    begins = param_attr if isinstance(param_attr, Mapping) else {}
    helper = LayerHelper("data_norm", input=input, act=act, name=name)

    def parameter(suffix: str, default: float) -> Parameter:
        first = begins.get(suffix.removesuffix("_sum") if suffix == "batch_square_sum" else suffix, default)
        attr = ParamAttr(f"{name or 'dn'}.{suffix}", Constant(float(first)), trainable=True)
        return helper.create_parameter(attr, [input.shape[1]], input.dtype)

    weights = {
        slot: parameter(suffix, default) for suffix, slot, default in _WEIGHTS if enable_scale_and_shift
    }
    counts = {slot: parameter(suffix, default) for suffix, slot, default in _COUNTS}
    found = {slot: helper.block.create_var(dtype=input.dtype) for slot in ("Means", "Scales")}
    for each in found.values():
        each.stop_gradient = True
    out = input if in_place else helper.block.create_var(dtype=input.dtype)
    attrs = {"epsilon": epsilon, "sync_stats": sync_stats, "summary_decay_rate": summary_decay_rate}
    attrs |= {"slot_dim": slot_dim} if slot_dim > 0 else {}
    attrs |= {"enable_scale_and_shift": True} if enable_scale_and_shift else {}
    helper.append_op("data_norm", {"X": input, **counts, **weights}, {"Y": out, **found}, attrs)
    return helper.append_activation(out)


def continuous_value_model(input: Variable, cvm: Variable, use_cvm: bool = True) -> Variable:
    """The first two columns, shows and clicks, as log(shows + 1) and log(clicks + 1) - log(shows + 1), or
    without them where not ``use_cvm``. Back through them goes ``cvm``, (samples, 2), as it is."""
    helper = LayerHelper("cvm")
    made = helper.block.create_var(dtype=input.dtype)
    helper.append_op("cvm", {"X": input, "CVM": cvm}, {"Y": made}, {"use_cvm": use_cvm})
    return made
