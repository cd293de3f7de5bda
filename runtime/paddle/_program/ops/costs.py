"""Rows of costs. What a formula of a few operators says is lowered to these."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TypeAlias

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.activations import over_last
from paddle._program.ops.arithmetic import as_float, number
from paddle._program.ops.sizes import in_shape

_IGNORED = -100
"""The label that is passed over by a cost that is told no other."""


Cost: TypeAlias = Callable[[Lowering, EngineVariable, EngineVariable], EngineVariable]


@lowers("cross_entropy2", ignore_index=_IGNORED)
@lowers("cross_entropy", soft_label=False, ignore_index=_IGNORED)
def _cross_entropy(low: Lowering, op: Operator) -> None:
    x, label = low.input(op, "X").variable, low.input(op, "Label").variable
    if op.attrs.get("soft_label"):
        logs = low.op("log", X=low.op("clip", {"min": 1e-20}, X=x))
        each = low.op("elementwise_mul", X=logs, Y=_told(low, op, "Label"))
        total = low.op("reduce_sum", {"dim": -1, "keep_dim": True}, X=each)
        low.give(op, "Y", low.op("scale", {"scale": -1.0}, X=total))
        return
    attrs = {"ignored": op.attr("ignore_index")}

    def cost(low: Lowering, x: EngineVariable, label: EngineVariable) -> EngineVariable:
        return low.op("cross_entropy", attrs, X=x, Label=label)

    found = _picked(low, x, label, cost)
    if len(label.shape) == len(x.shape) - 1:
        found = low.op("squeeze", {"axes": (len(label.shape),)}, X=found)
    low.give(op, "Y", found)


def _told(low: Lowering, op: Operator, slot: str) -> EngineVariable:
    """What a cost is told, as floats."""
    return as_float(low, low.input(op, slot).variable)


def _picked(low: Lowering, x: EngineVariable, label: EngineVariable, cost: Cost) -> EngineVariable:
    """A cost of rows and columns of labels, of arrays with more axes before."""
    lead = x.shape[:-1]
    if len(label.shape) == len(x.shape) - 1:
        label = low.op("unsqueeze", {"axes": (len(label.shape),)}, X=label)
    whole = x
    if len(lead) > 1:
        x, label = (low.op("flatten", {"start": 0, "stop": len(lead)}, X=each) for each in (x, label))
    out = cost(low, x, label)
    if len(lead) > 1:
        out = in_shape(low, out, (*lead, 1), whole)
    return out


@lowers(
    "softmax_with_cross_entropy",
    soft_label=False,
    ignore_index=_IGNORED,
    numeric_stable_mode=True,
    axis=-1,
)
def _softmax_with_cross_entropy(low: Lowering, op: Operator) -> None:
    logits, label, axis = low.input(op, "Logits").variable, low.input(op, "Label").variable, op.attr("axis")
    rank = len(logits.shape)
    if op.attr("soft_label"):
        _soft(low, op, logits, as_float(low, label), axis % rank)
        return
    if axis % rank != rank - 1:
        _along(low, op, logits, label, axis % rank)
        return
    attrs = {"ignored": op.attr("ignore_index")}
    made: dict[str, EngineVariable] = {}

    def cost(low: Lowering, x: EngineVariable, label: EngineVariable) -> EngineVariable:
        made.update(low.builder.ops("softmax_with_cross_entropy", attrs, Logits=x, Label=label))
        return made["Loss"]

    loss = _picked(low, logits, label, cost)
    shares = made["Softmax"]
    if rank > 2:
        shares = in_shape(low, shares, logits.shape, logits)
    _give(low, op, shares, loss)


def _along(low: Lowering, op: Operator, logits: EngineVariable, label: EngineVariable, axis: int) -> None:
    """Along an axis that is not the last: the logarithms by their label."""
    logs = over_last(low, logits, axis, lambda each: low.op("log_softmax", X=each))
    bare = low.op("squeeze", {"axes": (axis,)}, X=label) if len(label.shape) == len(logits.shape) else label
    kept = low.op("not_equal", X=bare, Y=number(low, op.attr("ignore_index"), bare))
    bare = low.op("elementwise_mul", X=bare, Y=kept)
    chosen = low.op("one_hot", {"depth": logits.shape[axis]}, X=bare)
    order = (*range(axis), len(bare.shape), *range(axis, len(bare.shape)))
    each = low.op("elementwise_mul", X=logs, Y=low.op("transpose", {"axis": order}, X=chosen))
    total = low.op("reduce_sum", {"dim": axis, "keep_dim": True}, X=each)
    total = low.op(
        "elementwise_mul", X=total, Y=low.op("unsqueeze", {"axes": (axis,)}, X=as_float(low, kept))
    )
    _give(low, op, low.op("exp", X=logs), low.op("scale", {"scale": -1.0}, X=total))


def _soft(low: Lowering, op: Operator, logits: EngineVariable, label: EngineVariable, axis: int) -> None:
    """By the share of each class, along any axis."""
    rank = len(logits.shape)
    order = (*(each for each in range(rank) if each != axis), axis)
    back = {"axis": tuple(order.index(each) for each in range(rank))}
    is_last = axis == rank - 1
    whole, shares = (
        (each if is_last else low.op("transpose", {"axis": order}, X=each)) for each in (logits, label)
    )
    lines = [
        each if rank == 2 else low.op("flatten", {"start": 0, "stop": rank - 1}, X=each)
        for each in (whole, shares)
    ]
    made = low.builder.ops("softmax_with_soft_labels", Logits=lines[0], Label=lines[1])
    found = in_shape(low, made["Softmax"], whole.shape, whole)
    loss = in_shape(low, made["Loss"], (*whole.shape[:-1], 1), whole)
    if not is_last:
        found, loss = (low.op("transpose", back, X=each) for each in (found, loss))
    _give(low, op, found, loss)


def _give(low: Lowering, op: Operator, shares: EngineVariable, loss: EngineVariable) -> None:
    """No gradient goes back through the shares, as in all releases of the original."""
    low.give(op, "Softmax", shares)
    for name in op.outputs.get("Softmax", ()):
        low.stopped.add(low.env[name].variable.name)
    low.give(op, "Loss", loss)


@lowers("square_error_cost")
def _square_error_cost(low: Lowering, op: Operator) -> None:
    x, label = low.input(op, "X").variable, low.input(op, "Y").variable
    low.give(op, "Out", low.op("square", X=low.op("elementwise_sub", X=x, Y=as_float(low, label))))


@lowers("log_loss", epsilon=1e-4)
def _log_loss(low: Lowering, op: Operator) -> None:
    """-y log(p + e) - (1 - y) log(1 - p + e)."""
    p, y = low.input(op, "Predicted").variable, _told(low, op, "Labels")
    low.give(op, "Loss", _of_two_classes(low, p, y, float(op.attr("epsilon"))))


def _of_two_classes(low: Lowering, p: EngineVariable, y: EngineVariable, epsilon: float) -> EngineVariable:
    hit = low.op("log", X=low.op("scale", {"bias": epsilon}, X=p))
    miss = low.op("log", X=low.op("scale", {"scale": -1.0, "bias": 1.0 + epsilon}, X=p))
    rest = low.op("scale", {"scale": -1.0, "bias": 1.0}, X=y)
    first, second = low.op("elementwise_mul", X=hit, Y=y), low.op("elementwise_mul", X=miss, Y=rest)
    return low.op("scale", {"scale": -1.0}, X=low.op("elementwise_add", X=first, Y=second))


@lowers("bce_loss")
def _bce_loss(low: Lowering, op: Operator) -> None:
    p, y = low.input(op, "X").variable, _told(low, op, "Label")
    held = low.op("clip", {"min": 1e-12, "max": 1.0}, X=p)
    low.give(op, "Out", _of_two_classes(low, held, y, 1e-12))


@lowers("sigmoid_cross_entropy_with_logits", ignore_index=_IGNORED, normalize=False)
def _sigmoid_cross_entropy(low: Lowering, op: Operator) -> None:
    """log(1 + exp(x)) - x y, of labels that are ignored nothing."""
    x, y = low.input(op, "X").variable, _told(low, op, "Label")
    cost = low.op("elementwise_sub", X=low.op("softplus", X=x), Y=low.op("elementwise_mul", X=x, Y=y))
    kept = as_float(low, low.op("not_equal", X=y, Y=number(low, op.attr("ignore_index"), y)))
    cost = low.op("elementwise_mul", X=cost, Y=kept)
    if op.attr("normalize"):
        total = low.op("clip", {"min": 1.0}, X=low.op("reduce_sum", X=kept))
        cost = low.op("elementwise_div", X=cost, Y=total)
    low.give(op, "Out", cost)


@lowers("huber_loss", delta=1.0)
def _huber_loss(low: Lowering, op: Operator) -> None:
    """c * (d - c / 2) of each element, where d is how far it is off and c is d, delta at most."""
    x, y, delta = low.input(op, "X").variable, low.input(op, "Y").variable, float(op.attr("delta"))
    low.give(op, "Residual", low.op("elementwise_sub", X=y, Y=x))
    low.give(op, "Out", _bounded_square(low, low.op("elementwise_sub", X=y, Y=x), delta))


def _bounded_square(low: Lowering, apart: EngineVariable, delta: float) -> EngineVariable:
    far = low.op("abs", X=apart)
    near = low.op("clip", {"max": delta}, X=far)
    rest = low.op("elementwise_sub", X=far, Y=low.op("scale", {"scale": 0.5}, X=near))
    return low.op("elementwise_mul", X=near, Y=rest)


@lowers("smooth_l1_loss", sigma=1.0)
def _smooth_l1_loss(low: Lowering, op: Operator) -> None:
    """Of each row: as Huber's with delta 1 / sigma**2, times sigma**2, weighted before and behind."""
    x, y, square = low.input(op, "X").variable, low.input(op, "Y").variable, float(op.attr("sigma")) ** 2
    apart = low.op("elementwise_sub", X=x, Y=y)
    if low.has(op, "InsideWeight"):
        apart = low.op("elementwise_mul", X=apart, Y=_told(low, op, "InsideWeight"))
    cost = low.op("scale", {"scale": square}, X=_bounded_square(low, apart, 1 / square))
    if low.has(op, "OutsideWeight"):
        cost = low.op("elementwise_mul", X=cost, Y=_told(low, op, "OutsideWeight"))
    rows = low.op("flatten", {"start": 1, "stop": len(cost.shape)}, X=cost)
    low.give(op, "Diff", apart)
    low.give(op, "Out", low.op("reduce_sum", {"dim": 1, "keep_dim": True}, X=rows))


@lowers("bpr_loss")
def _bpr_loss(low: Lowering, op: Operator) -> None:
    """The mean over the other classes of log(1 + exp(other - label's))."""
    x, label = low.input(op, "X").variable, low.input(op, "Label").variable
    own = low.op("index_sample", X=x, Index=label)
    costs = low.op("softplus", X=low.op("elementwise_sub", X=x, Y=own))
    total = low.op("reduce_sum", {"dim": 1, "keep_dim": True}, X=costs)
    count = x.shape[1] - 1
    low.give(op, "Y", low.op("scale", {"scale": 1 / count, "bias": -log(2) / count}, X=total))


@lowers("rank_loss")
def _rank_loss(low: Lowering, op: Operator) -> None:
    """log(1 + exp(left - right)) - label * (left - right)."""
    left, right = (low.input(op, slot).variable for slot in ("Left", "Right"))
    apart = low.op("elementwise_sub", X=left, Y=right)
    told = low.op("elementwise_mul", X=apart, Y=_told(low, op, "Label"))
    low.give(op, "Out", low.op("elementwise_sub", X=low.op("softplus", X=apart), Y=told))


@lowers("margin_rank_loss", margin=0.0)
def _margin_rank_loss(low: Lowering, op: Operator) -> None:
    """relu(margin - label * (x1 - x2))."""
    first, second = (low.input(op, slot).variable for slot in ("X1", "X2"))
    apart = low.op("elementwise_sub", X=first, Y=second)
    apart = low.op("elementwise_mul", X=apart, Y=_told(low, op, "Label"))
    out = low.op("relu", X=low.op("scale", {"scale": -1.0, "bias": float(op.attr("margin"))}, X=apart))
    low.give(op, "Activated", low.op("sign", X=out))
    low.give(op, "Out", out)


@lowers("hinge_loss")
def _hinge_loss(low: Lowering, op: Operator) -> None:
    """relu(1 - (2 * label - 1) * x)."""
    x, label = low.input(op, "Logits").variable, _told(low, op, "Labels")
    sides = low.op("scale", {"scale": 2.0, "bias": -1.0}, X=label)
    margin = low.op("elementwise_mul", X=x, Y=sides)
    low.give(op, "Loss", low.op("relu", X=low.op("scale", {"scale": -1.0, "bias": 1.0}, X=margin)))


@lowers("kldiv_loss", reduction="mean")
def _kldiv_loss(low: Lowering, op: Operator) -> None:
    """target * (log(target) - x), where the target is above 0; summed up as the attribute says."""
    x, target, how = low.input(op, "X").variable, _told(low, op, "Target"), op.attr("reduction")
    logs = low.op("log", X=low.op("clip", {"min": 1e-30}, X=target))
    there = low.op("relu", X=target)
    cost = low.op("elementwise_mul", X=there, Y=low.op("elementwise_sub", X=logs, Y=x))
    if how == "none":
        low.give(op, "Loss", cost)
        return
    if how not in ("mean", "sum", "batchmean"):
        raise BadProgram(f"operator 'kldiv_loss': reduction is none, mean, sum or batchmean, not {how!r}")
    if how == "batchmean":
        rows = low.op("flatten", {"start": 1, "stop": len(cost.shape)}, X=cost)
        cost = low.op("reduce_sum", {"dim": 1}, X=rows)
    low.give(op, "Loss", low.op("reduce_sum" if how == "sum" else "mean", X=cost), ())


@lowers("label_smooth", epsilon=0.0)
def _label_smooth(low: Lowering, op: Operator) -> None:
    """(1 - e) * x + e * prior, which is even unless it is given."""
    x, epsilon = low.input(op, "X").variable, float(op.attr("epsilon"))
    if not low.has(op, "PriorDist"):
        even = {"scale": 1.0 - epsilon, "bias": epsilon / x.shape[-1]}
        low.give(op, "Out", low.op("scale", even, X=x))
        return
    prior = low.op("scale", {"scale": epsilon}, X=low.input(op, "PriorDist").variable)
    own = low.op("scale", {"scale": 1.0 - epsilon}, X=x)
    low.give(op, "Out", low.op("elementwise_add", X=own, Y=prior))


@lowers("cos_sim")
def _cos_sim(low: Lowering, op: Operator) -> None:
    """Y may have one row for all of X."""
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    for slot, each in (("XNorm", x), ("YNorm", y)):
        squares = low.op("reduce_sum", {"dim": 1, "keep_dim": True}, X=low.op("square", X=each))
        low.give(op, slot, low.op("sqrt", X=squares))
    if y.shape[0] == 1 and x.shape[0] != 1:
        y = low.op("expand_as", X=y, Like=x)
    low.give(op, "Out", low.op("cos_sim", X=x, Y=y))


@lowers(
    "dropout",
    dropout_prob=0.5,
    is_test=False,
    fix_seed=False,
    seed=0,
    dropout_implementation="downgrade_in_infer",
)
def _dropout(low: Lowering, op: Operator) -> None:
    rate, way = float(op.attr("dropout_prob")), op.attr("dropout_implementation")
    x, is_test = low.input(op, "X").variable, bool(op.attr("is_test") or low.is_test)
    if rate == 1.0:
        out = low.op("scale", {"scale": 0.0 if not is_test or way == "downgrade_in_infer" else 1.0}, X=x)
        low.give(op, "Out", out)
        return
    told = {"dropout_prob": rate, "dropout_implementation": way, "is_test": is_test}
    told |= {"seed": int(op.attr("seed") or 0), "draws_as": f"{op.block.idx}:{op.block.place_of(op)}"}
    found = low.builder.ops("dropout", told, X=x)
    low.give(op, "Out", found["Out"])
    low.give(op, "Mask", found["Mask"])
