"""Rows of normalization: of channels over a batch, and of each sample or parts of it."""

from __future__ import annotations

from math import prod

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.arithmetic import as_float, beside
from paddle._program.ops.layouts import as_told, channels_first, is_last
from paddle._program.ops.sizes import in_shape

_MOMENTUM = ("MomentumTensor", "MomemtumTensor")
"""The slot of a momentum that is a variable, and as 1.8 spells it."""


_BATCH = {
    "momentum": 0.9,
    "epsilon": 1e-5,
    "is_test": False,
    "use_global_stats": False,
    "data_layout": "NCHW",
    "trainable_statistics": False,
    "fuse_with_relu": False,
}


@lowers("batch_norm", "sync_batch_norm", **_BATCH)
def _batch_norm(low: Lowering, op: Operator) -> None:
    low.give(op, "Y", _normalized(low, op))


@lowers("inplace_abn", activation="", alpha=1.0, **_BATCH)
def _activated(low: Lowering, op: Operator) -> None:
    """A batch norm and what is done to it, under the name of what is normalized."""
    out, kind = _normalized(low, op), op.attr("activation") or "identity"
    if kind not in ("identity", "leaky_relu", "elu"):
        raise BadProgram(f"operator 'inplace_abn': activation is leaky_relu, elu or identity, not {kind!r}")
    alpha = {"alpha": float(op.attr("alpha"))}
    low.give(op, "Y", out if kind == "identity" else low.op(kind, alpha, X=out))


def _normalized(low: Lowering, op: Operator) -> EngineVariable:
    """A step in training moves the mean and the variance where they lie: under the names of both slots."""
    x = low.input(op, "X").variable
    whole, rank = x, len(x.shape)
    if is_last(op, "data_layout") and rank > 2:
        x = low.op("flatten", {"start": 0, "stop": rank - 1}, X=x)  # a matrix has its channels there, too
    for slot in ("Mean", "Variance"):
        if op.output(f"{slot}Out") not in ([], op.input(slot)):
            raise BadProgram(f"operator {op.type!r}: {slot}Out has the variable of {slot}, and no other")
    told = {
        "momentum": 1.0 if low.again else float(op.attr("momentum")),
        "epsilon": float(op.attr("epsilon")),
        "is_test": bool(op.attr("is_test") or low.is_test),
        "use_global_stats": bool(op.attr("use_global_stats")),
        "passes_one": True,
    }
    kept = {slot: low.parameter(op, slot) for slot in ("Mean", "Variance")}
    weights = {slot: _or_all(low, op, slot, kept["Mean"].shape) for slot in ("Scale", "Bias")}
    by = [low.input(op, slot).variable for slot in _MOMENTUM if low.has(op, slot) and not low.again]
    if by:
        found = low.builder.ops(
            "batch_norm_told", told, X=x, **weights, **kept, Momentum=as_float(low, by[0])
        )
    else:
        found = low.builder.ops("batch_norm", told, X=x, **weights, **kept)
    low.give(op, "SavedMean", found["SavedMean"], ())
    low.give(op, "SavedVariance", found["SavedInverse"], ())
    return found["Out"] if x is whole else in_shape(low, found["Out"], whole.shape, whole)


def _or_all(low: Lowering, op: Operator, slot: str, shape: tuple[int, ...]) -> EngineVariable:
    """A scale or a bias; of those that there are none, what changes nothing."""
    if low.has(op, slot):
        return low.input(op, slot).variable
    told = {"shape": shape, "value": float(slot == "Scale"), "dtype": "float32"}
    return low.op("fill_constant", told)


def _scaled(low: Lowering, op: Operator, out: EngineVariable, shape: tuple[int, ...]) -> EngineVariable:
    """Times Scale and plus Bias, each of that shape, where they are."""
    for slot, type in (("Scale", "elementwise_mul"), ("Bias", "elementwise_add")):
        if low.has(op, slot):
            each = low.input(op, slot).variable
            if each.shape != shape:
                each = low.op("reshape", {"shape": shape}, X=each)
            out = low.op(type, X=out, Y=each)
    return out


@lowers("layer_norm", epsilon=1e-5, begin_norm_axis=1)
def _layer_norm(low: Lowering, op: Operator) -> None:
    x, begin = low.input(op, "X").variable, int(op.attr("begin_norm_axis"))
    if -1 in x.shape[begin:]:
        raise BadProgram(
            f"operator 'layer_norm': the sizes of {list(x.shape)} from axis {begin} on must be known"
        )
    told = {"begin_norm_axis": begin, "epsilon": float(op.attr("epsilon"))}
    found = low.builder.ops("standardize", told, X=x)
    low.give(op, "Y", _scaled(low, op, found["Out"], x.shape[begin:]))
    low.give(op, "Mean", found["Mean"], ())
    low.give(op, "Variance", found["Variance"], ())


@lowers("instance_norm", epsilon=1e-5)
def _instance_norm(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    channels, *sides = x.shape[1:]
    told = {"begin_norm_axis": 2, "epsilon": float(op.attr("epsilon"))}
    alone = x if sides else low.op("reshape", {"shape": (-1, channels, 1)}, X=x)  # each is its own mean
    found = low.builder.ops("standardize", told, X=alone)
    out = found["Out"] if sides else low.op("reshape", {"shape": (-1, channels)}, X=found["Out"])
    low.give(op, "Y", _scaled(low, op, out, (channels, *(1,) * len(sides))))
    low.give(op, "SavedMean", found["Mean"], ())
    low.give(op, "SavedVariance", found["Variance"], ())


@lowers("group_norm", epsilon=1e-5, groups=1, data_layout="NCHW")
def _group_norm(low: Lowering, op: Operator) -> None:
    x, groups = channels_first(low, op, low.input(op, "X").variable, "data_layout"), int(op.attr("groups"))
    channels = x.shape[1]
    if channels % groups or -1 in x.shape[2:]:
        raise BadProgram(
            f"operator 'group_norm': {groups} groups of {channels} channels of images of known size, not of "
            f"{list(x.shape)}"
        )
    parted = low.op("reshape", {"shape": (-1, groups, channels // groups * prod(x.shape[2:]))}, X=x)
    found = low.builder.ops(
        "standardize", {"begin_norm_axis": 2, "epsilon": float(op.attr("epsilon"))}, X=parted
    )
    whole = low.op("reshape", {"shape": (-1, *x.shape[1:])}, X=found["Out"])
    out = _scaled(low, op, whole, (channels, *(1,) * (len(x.shape) - 2)))
    low.give(op, "Y", as_told(low, op, out, "data_layout"))
    low.give(op, "Mean", found["Mean"], ())
    low.give(op, "Variance", found["Variance"], ())


@lowers("affine_channel", data_layout="NCHW")
def _affine_channel(low: Lowering, op: Operator) -> None:
    """Each channel times a number of its own, and another one added."""
    x = low.input(op, "X").variable
    axis = len(x.shape) - 1 if is_last(op, "data_layout") else 1
    scale, bias = (beside(low, x, low.input(op, slot).variable, axis) for slot in ("Scale", "Bias"))
    low.give(op, "Out", low.op("elementwise_add", X=low.op("elementwise_mul", X=x, Y=scale), Y=bias))
