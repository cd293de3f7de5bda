"""Measures that fluid had under ``contrib``: those of click-through rates.

It must never compute itself. Guarantee: as of the layers that it is made of.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Constant
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid._listed import lacking

__all__ = ["ctr_metric_bundle"]


def ctr_metric_bundle(
    input: Variable, label: Variable, ins_tag_weight: Variable | None = None
) -> tuple[Variable, ...]:
    """What measures of click-through rates are made of, added up over runs: squared errors, absolute errors,
    probabilities, q values, clicks and samples, a variable of shape [1] each.

    ``ins_tag_weight``: 0 in its first row means that the q values and samples of a run do not count.
    """
    if tuple(input.shape) != tuple(label.shape):
        raise BadArgument(f"input {list(input.shape)} and label {list(label.shape)} are of one shape")
    helper = LayerHelper("ctr_metric_bundle")
    kept = {name: _global(helper, persistable=True) for name in _KEPT}
    error, q, ones = [_global(helper, shape=[-1]) for _ in range(3)]
    totals = {name: _global(helper) for name in _TOTALS}
    clicks = _cast(helper, label)
    _op(helper, "elementwise_sub", {"X": [input], "Y": [clicks]}, out=error)
    _op(helper, "sigmoid", {"X": [input]}, out=q)
    shifted = [_shifted(helper, input) for _ in range(2)]
    _op(helper, "elementwise_div", {"X": shifted[:1], "Y": shifted[1:]}, out=ones)
    parts = {"sqrerr": _op(helper, "square", {"X": [error]}), "abserr": _op(helper, "abs", {"X": [error]})}
    parts |= {"prob": input, "q": q, "pos": clicks, "ins": ones}
    if ins_tag_weight is not None:
        weight = _cast(helper, ins_tag_weight)
        told = {"axes": [0], "starts": [0], "ends": [1]}
        first = _op(helper, "slice", {"Input": [weight]}, told)
        for name in ("q", "ins"):
            parts[name] = _op(helper, "elementwise_mul", {"X": [parts[name]], "Y": [first]}, {"axis": -1})
    return tuple(_added_up(helper, kept[name], part, totals[name]) for name, part in parts.items())


# In the order in which the original makes them: their names are numbered.
_KEPT = ("abserr", "sqrerr", "prob", "q", "pos", "ins")
_TOTALS = ("prob", "abserr", "sqrerr", "q", "pos", "ins")


def _global(helper: LayerHelper, shape: Any = (1,), *, persistable: bool = False) -> Variable:
    made: Variable = helper.create_global_variable(persistable, shape=list(shape), dtype=VarType.FP32)
    if persistable:
        helper.set_variable_initializer(made, Constant(0.0))
    return made


def _op(
    helper: LayerHelper, type: str, inputs: Any, attrs: Any = None, out: Variable | None = None
) -> Variable:
    if out is None:
        out = helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
    helper.append_op(type, inputs=inputs, outputs={"Out": [out]}, attrs=attrs or {})
    return out


def _cast(helper: LayerHelper, label: Variable) -> Variable:
    return _op(helper, "cast", {"X": [label]}, {"in_dtype": int(label.dtype), "out_dtype": int(VarType.FP32)})


def _shifted(helper: LayerHelper, value: Variable) -> Variable:
    """Probabilities plus one, which are never 0: divided by themselves they count samples."""
    return _op(helper, "scale", {"X": [value]}, {"scale": 1.0, "bias": 1.0})


def _added_up(helper: LayerHelper, kept: Variable, part: Variable, total: Variable) -> Variable:
    _op(helper, "reduce_sum", {"X": [part]}, {"dim": [0], "reduce_all": True, "keep_dim": False}, total)
    return _op(helper, "elementwise_add", {"X": [kept], "Y": [total]}, out=kept)


__getattr__ = lacking("paddle.fluid.contrib.layers")
