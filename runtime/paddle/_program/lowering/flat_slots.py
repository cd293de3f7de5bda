"""Input slots that no gradient goes back to: what is compared with, weighs, or only has a size that is asked.

It must never know how an operator is computed. Guarantee: what is before such a slot alone learns nothing by
it, as upstream: a network that gives soft labels stays as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paddle._program.description.operator import Operator

_FLAT = {
    **dict.fromkeys(("cross_entropy", "cross_entropy2", "softmax_with_cross_entropy"), "Label"),
    **dict.fromkeys(("bce_loss", "margin_rank_loss", "rank_loss", "teacher_student_sigmoid_loss"), "Label"),
    "sigmoid_cross_entropy_with_logits": "Label pos_weight",
    **dict.fromkeys(("hinge_loss", "log_loss"), "Labels"),
    "kldiv_loss": "Target",
    "label_smooth": "PriorDist",
    "smooth_l1_loss": "InsideWeight OutsideWeight",
    "yolov3_loss": "GTBox GTScore",
    "nce": "SampleWeight",
    "cvm": "CVM",
    **dict.fromkeys(("sequence_expand", "sequence_expand_as", "lod_reset", "expand_as_v2"), "Y"),
    **dict.fromkeys(("crop", "im2sequence"), "Y"),
    "expand_as": "target_tensor",
    "pad_constant_like": "X",
    "sequence_pad": "PadValue",
    "scale": "ScaleTensor",
    "clip": "Min Max",
    "pow": "FactorTensor",
    "merge_lod_tensor": "X",
    **dict.fromkeys(("deformable_psroi_pooling", "psroi_pool", "roi_align", "roi_pool"), "ROIs"),
    "roi_perspective_transform": "ROIs",
    **dict.fromkeys(("fill_any_like", "fill_zeros_like", "fill_zeros_like2", "similarity_focus"), "X"),
    **dict.fromkeys(("fill_constant_batch_size_like", "uniform_random_batch_size_like"), "Input"),
    "gaussian_random_batch_size_like": "Input",
    "accuracy": "Out",
    "auc": "Predict",
    **dict.fromkeys(("elementwise_floordiv", "elementwise_mod"), "X Y"),
}
FLAT_SLOTS = {type: frozenset(slots.split()) for type, slots in _FLAT.items()}
"""By the types of operators."""


def is_flat(op: Operator, slot: str) -> bool:
    """Whether no gradient of an operator goes to what it reads in a slot."""
    return slot in FLAT_SLOTS.get(op.type, ())


def sloping(op: Operator) -> list[str]:
    """The names that it reads and to which its gradients may go."""
    return [name for slot, names in op.inputs.items() if not is_flat(op, slot) for name in names]
