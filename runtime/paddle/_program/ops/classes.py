"""Rows of costs over so many classes that only some of them are computed: ``nce``, ``hierarchical_sigmoid``,
``sample_logits``.

Each is three parts: which rows of the weights, a look-up of these, and a cost of their scores. The last one
looks up scores that are all there, and leaves the cost to others. It must never
know a layer. See decision 0063 for where ``hierarchical_sigmoid`` differs: a short path costs what its turns
do.
"""

from __future__ import annotations

from math import log

from paddle._absent import NotInThisRelease
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.arithmetic import as_float, number

_UNIFORM, _LOG_UNIFORM, _CUSTOM = range(3)
_EDGE = 40.0
"""Beyond it, either way, a turn costs what it costs there, as in the original."""


def _scores(
    low: Lowering,
    x: EngineVariable,
    weights: EngineVariable,
    bias: EngineVariable | None,
    rows: EngineVariable,
) -> EngineVariable:
    """(n, count): of each sample the scores of the rows that it is told by."""
    count, width = rows.shape[1], weights.shape[1]
    flat = low.op("reshape", {"shape": (-1, 1)}, X=rows)
    picked = low.op("lookup_table", W=weights, Ids=flat)
    beside = low.op("reshape", {"shape": (-1, count, width)}, X=picked)
    value = low.op("reshape", {"shape": (-1, 1, width)}, X=x)
    found = low.op("reduce_sum", {"dim": 2}, X=low.op("elementwise_mul", X=beside, Y=value))
    if bias is None:
        return found
    column = low.op("reshape", {"shape": (-1, 1)}, X=bias)
    more = low.op("reshape", {"shape": (-1, count)}, X=low.op("lookup_table", W=column, Ids=flat))
    return low.op("sum", X=[found, more])


def _bias(low: Lowering, op: Operator) -> EngineVariable | None:
    return low.input(op, "Bias").variable if low.has(op, "Bias") else None


def _distribution(op: Operator) -> tuple[float, ...]:
    """How probable each class is taken to be; empty where all are equally so."""
    classes, sampler = op.attr("num_total_classes"), op.attr("sampler")
    if sampler == _UNIFORM:
        return ()
    if sampler == _CUSTOM:
        return tuple(float(each) for each in op.attr("custom_dist"))
    return tuple(log((k + 2) / (k + 1)) / log(classes) for k in range(classes))


def _drawn(op: Operator, expected: tuple[float, ...]) -> tuple[float, ...]:
    """By what classes are drawn. log_uniform never draws the last one, as upstream's does not."""
    return (*expected[:-1], 0.0) if op.attr("sampler") == _LOG_UNIFORM else expected


_NCE = {
    "num_total_classes": 1,
    "num_neg_samples": 10,
    "seed": 0,
    "sampler": 0,
    "is_sparse": False,
    "custom_dist": (),
}


@lowers("nce", **_NCE)
def _nce(low: Lowering, op: Operator) -> None:
    x, label = low.input(op, "Input").variable, low.input(op, "Label").variable
    classes, drawn, expected = op.attr("num_total_classes"), op.attr("num_neg_samples"), _distribution(op)
    draws = {"num_classes": classes, "num_neg_samples": drawn, "distribution": _drawn(op, expected)}
    samples = low.op("sample_classes", draws, Label=label)
    scores = low.op("sigmoid", X=_scores(low, x, low.input(op, "Weight").variable, _bias(low, op), samples))
    told = {"num_classes": classes, "distribution": expected, "labels": label.shape[1]}
    cost = low.op("nce_cost", told, X=scores, Samples=samples)
    if low.has(op, "SampleWeight"):
        weight = low.op("reshape", {"shape": (-1, 1)}, X=low.input(op, "SampleWeight").variable)
        cost = low.op("elementwise_mul", X=cost, Y=weight)
    low.give(op, "Cost", cost)
    low.give(op, "SampleLogits", scores)
    low.give(op, "SampleLabels", samples, dtype=VarType.INT64)


_NOT_ONE = 1e20
"""What a score lacks of a class that is none of those drawn."""
_SAMPLED = {
    "use_customized_samples": False,
    "uniq": True,
    "remove_accidental_hits": True,
    "num_samples": 1,
    "seed": 0,
}


@lowers("sample_logits", **_SAMPLED)
def _sample_logits(low: Lowering, op: Operator) -> None:
    logits, label = low.input(op, "Logits").variable, low.input(op, "Labels").variable
    if label.shape[1:] != (1,) or not op.attr("uniq"):
        raise NotInThisRelease(
            "sample_logits with several labels of a sample, or drawn more than once (uniq=False), is not in "
            "this release"
        )
    if op.attr("use_customized_samples"):
        _give_told(low, op, logits, label)
        return
    attrs = {"num_classes": logits.shape[1], "num_samples": op.attr("num_samples")}
    attrs["without_label"] = op.attr("remove_accidental_hits")
    drawn = low.builder.ops("sample_apart", attrs, Label=label)
    picked = low.op("index_sample", X=logits, Index=drawn["Out"])
    low.give(op, "Samples", drawn["Out"], dtype=VarType.INT64)
    low.give(op, "Probabilities", drawn["Chances"])
    low.give(op, "SampledLogits", low.op("elementwise_sub", X=picked, Y=drawn["Less"]))
    _give_first(low, op, label)


def _give_told(low: Lowering, op: Operator, logits: EngineVariable, label: EngineVariable) -> None:
    """The same of classes and chances of the program's own: a label and, behind it, others."""
    samples, chances = (low.input(op, f"Customized{each}").variable for each in ("Samples", "Probabilities"))
    picked = low.op(
        "elementwise_sub", X=low.op("index_sample", X=logits, Index=samples), Y=low.op("log", X=chances)
    )
    if op.attr("remove_accidental_hits"):
        count = samples.shape[1]
        is_drawn = {"shape": (1, count), "dtype": "float32", "values": (0.0, *(_NOT_ONE,) * (count - 1))}
        is_label = low.op("cast", {"dtype": "float32"}, X=low.op("equal", X=samples, Y=label))
        hits = low.op("elementwise_mul", X=is_label, Y=low.op("assign_value", is_drawn))
        picked = low.op("elementwise_sub", X=picked, Y=hits)
    low.give(op, "SampledLogits", picked)
    _give_first(low, op, label)


def _give_first(low: Lowering, op: Operator, label: EngineVariable) -> None:
    first = {"shape": (-1, 1), "dtype": "int64", "value": 0.0, "input_dim_idx": 0, "output_dim_idx": 0}
    low.give(
        op, "SampledLabels", low.op("fill_constant_batch_size_like", first, X=label), dtype=VarType.INT64
    )


@lowers("hierarchical_sigmoid", num_classes=2, is_sparse=False)
def _hierarchical_sigmoid(low: Lowering, op: Operator) -> None:
    if low.has(op, "PathTable"):
        _own_tree(low, op)
        return
    x, label = low.input(op, "X").variable, low.input(op, "Label").variable
    classes = {"num_classes": op.attr("num_classes")}
    label = low.op("reshape", {"shape": (-1, 1)}, X=label)
    path = low.op("class_path", classes, Label=label)
    scores = _scores(low, x, low.input(op, "W").variable, _bias(low, op), path)
    low.give(op, "Out", low.op("path_cost", classes, X=scores, Label=label))
    low.give(op, "PreOut", scores)


def _own_tree(low: Lowering, op: Operator) -> None:
    """Of each sample the nodes on its way, and which way each turns; behind the last node there is -1."""
    table, code = (low.input(op, slot).variable for slot in ("PathTable", "PathCode"))
    if table.shape[1] < 0:
        raise BadProgram(
            "operator 'hierarchical_sigmoid': how long paths are, axis 1 of path_table, is declared"
        )
    there = low.op("greater_equal", X=table, Y=number(low, 0, table))
    nodes = low.op("elementwise_mul", X=table, Y=there)
    scores = _scores(low, low.input(op, "X").variable, low.input(op, "W").variable, _bias(low, op), nodes)
    held = low.op("clip", {"min": -_EDGE, "max": _EDGE}, X=scores)
    ways = low.op("elementwise_mul", X=held, Y=as_float(low, code))
    costs = low.op("elementwise_sub", X=low.op("softplus", X=held), Y=ways)
    known = low.op("elementwise_mul", X=costs, Y=as_float(low, there))
    low.give(op, "Out", low.op("reduce_sum", {"dim": 1, "keep_dim": True}, X=known))
    low.give(op, "PreOut", scores)
