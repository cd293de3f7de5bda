"""Outputs that the original's operators must have, and that nobody asks for: what its gradients remember.

They must never know how an operator is computed; here nothing computes them. Guarantee: a program that is
given them computes what it did, and the original takes it.
"""

from __future__ import annotations

from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.program import Program

_SHAPES = dict.fromkeys(("reshape2", "transpose2", "squeeze2", "unsqueeze2", "flatten2"), "XShape")
_SLOTS = {
    **_SHAPES,
    "batch_norm": "SavedMean SavedVariance",
    "cos_sim": "XNorm YNorm",
    "cross_entropy2": "MatchX XShape",
    "dropout": "Mask",
    "flatten_contiguous_range": "XShape",
    "group_norm": "Mean Variance",
    "gru": "BatchGate BatchResetHiddenPrev BatchHidden",
    "gru_unit": "Gate ResetHiddenPrev",
    "hierarchical_sigmoid": "PreOut W_Out",
    "huber_loss": "Residual",
    "instance_norm": "SavedMean SavedVariance",
    "layer_norm": "Mean Variance",
    "linear_chain_crf": "Alpha EmissionExps TransitionExps",
    "lstm": "BatchGate BatchCellPreAct",
    "lstmp": "BatchGate BatchCellPreAct BatchHidden",
    "margin_rank_loss": "Activated",
    "nce": "SampleLogits SampleLabels",
    "norm": "Norm",
    "sequence_pool": "MaxIndex",
    "smooth_l1_loss": "Diff",
    "softmax_with_cross_entropy": "Softmax",
    "squared_l2_distance": "sub_result",
    "warpctc": "WarpCTCGrad",
}
_WHOLE = (".MaxIndex", ".SampleLabels")


def complete(program: Program) -> None:
    """Give operators the outputs that they lack."""
    for block in program.blocks:
        for at, op in enumerate(block.ops):
            lacking = [slot for slot in _SLOTS.get(op.type, "").split() if not op.outputs.get(slot)]
            op.outputs.update(
                (slot, [_made(block, f"{op.type}_{block.idx}_{at}.{slot}")]) for slot in lacking
            )
    program._bump()


def _made(block: Block, name: str) -> str:
    whole = name.endswith(_WHOLE)
    block.create_var(name=name, dtype=VarType.INT32 if whole else VarType.FP32, stop_gradient=True)
    return name
