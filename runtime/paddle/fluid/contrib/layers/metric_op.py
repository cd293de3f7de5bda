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
    clicks = _cast(helper, label)
    error = _op(helper, "elementwise_sub", {"X": [input], "Y": [clicks]})
    ones = _op(helper, "elementwise_div", {"X": [_shifted(helper, input)], "Y": [_shifted(helper, input)]})
    parts = {
        "sqrerr": _op(helper, "square", {"X": [error]}),
        "abserr": _op(helper, "abs", {"X": [error]}),
        "prob": input,
        "q": _op(helper, "sigmoid", {"X": [input]}),
        "pos": clicks,
        "ins": ones,
    }
    if ins_tag_weight is not None:
        weight = _cast(helper, ins_tag_weight)
        told = {"axes": [0], "starts": [0], "ends": [1]}
        first = _op(helper, "slice", {"Input": [weight]}, told)
        for name in ("q", "ins"):
            parts[name] = _op(helper, "elementwise_mul", {"X": [parts[name]], "Y": [first]}, {"axis": -1})
    return tuple(_added_up(helper, name, part) for name, part in parts.items())


def _op(helper: LayerHelper, type: str, inputs: Any, attrs: Any = None) -> Variable:
    made: Variable = helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
    helper.append_op(type, inputs=inputs, outputs={"Out": [made]}, attrs=attrs or {})
    return made


def _cast(helper: LayerHelper, label: Variable) -> Variable:
    return _op(helper, "cast", {"X": [label]}, {"in_dtype": int(label.dtype), "out_dtype": int(VarType.FP32)})


def _shifted(helper: LayerHelper, value: Variable) -> Variable:
    """Probabilities plus one, which are never 0: divided by themselves they count samples."""
    return _op(helper, "scale", {"X": [value]}, {"scale": 1.0, "bias": 1.0})


def _added_up(helper: LayerHelper, name: str, part: Variable) -> Variable:
    total = _op(helper, "reduce_sum", {"X": [part]}, {"dim": [0], "reduce_all": True, "keep_dim": False})
    traits: dict[str, Any] = {"shape": [1], "dtype": VarType.FP32, "persistable": True}
    kept = helper.main_program.global_block().create_var(name=f"{helper.name}.{name}", **traits)
    kept.stop_gradient = True
    begun = helper.startup_program.global_block()
    Constant(0.0)(begun.create_var(name=kept.name, **traits), begun)
    helper.append_op("elementwise_add", inputs={"X": [kept], "Y": [total]}, outputs={"Out": [kept]})
    return kept


__getattr__ = lacking("paddle.fluid.contrib.layers")
