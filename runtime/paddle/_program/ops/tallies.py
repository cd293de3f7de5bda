"""Rows of what click-through programs normalize by counts: ``data_norm`` and ``cvm``."""

from __future__ import annotations

from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers


@lowers(
    "data_norm",
    epsilon=1e-4,
    slot_dim=-1,
    summary_decay_rate=0.9999999,
    enable_scale_and_shift=False,
    data_layout="NCHW",
    sync_stats=False,
)
def _data_norm(low: Lowering, op: Operator) -> None:
    """By counts that are parameters as any others. An optimizer moves them, as upstream's does on processors,
    by how many samples there were, their sum, and the squares about the mean."""
    x = low.input(op, "X").variable
    if len(x.shape) != 2:
        raise BadProgram(f"operator 'data_norm' takes (samples, columns), not {list(x.shape)}")
    slot = int(op.attr("slot_dim"))
    kept = {"Size": "BatchSize", "Sum": "BatchSum", "Square": "BatchSquareSum"}
    inputs = {own: low.input(op, theirs).variable for own, theirs in kept.items()}
    told = {"slot_dim": slot, "epsilon": float(op.attr("epsilon"))}
    made = low.builder.ops("data_norm", told, X=x, **inputs)
    out = made["Out"]
    if op.attr("enable_scale_and_shift"):
        bias = low.input(op, "bias").variable
        if slot > 0:  # what was never shown stays 0
            low.stopped.add(made["Shown"].name)
            bias = low.op("elementwise_mul", X=made["Shown"], Y=bias)
        out = low.op("elementwise_mul", X=out, Y=low.input(op, "scale_w").variable)
        out = low.op("elementwise_add", X=out, Y=bias)
    low.give(op, "Y", out)
    low.give(op, "Means", made["Means"], ())
    low.give(op, "Scales", made["Scales"], ())


@lowers("cvm", use_cvm=True)
def _cvm(low: Lowering, op: Operator) -> None:
    """Rows of a sequence have the counts of their sequence."""
    x, counts = low.input(op, "X"), low.input(op, "CVM").variable
    if len(x.runs) > 1:
        raise BadProgram(
            f"operator 'cvm': {op.input('X')[0]!r} has sequences of sequences, and takes one level"
        )
    if x.runs:
        counts = low.op("sequence_expand", X=counts, Offsets=x.runs[0], Like=x.variable)
    low.give(op, "Y", low.op("cvm", {"is_kept": bool(op.attr("use_cvm"))}, X=x.variable, Counts=counts))
