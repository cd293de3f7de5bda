"""How well objects are found."""

from __future__ import annotations

from collections.abc import Sequence

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper

__all__ = ["detection_map"]

_STATES = {"AccumPosCount": "int32", "AccumTruePos": "float32", "AccumFalsePos": "float32"}


def detection_map(
    detect_res: Variable,
    label: Variable,
    class_num: int,
    background_label: int = 0,
    overlap_threshold: float = 0.3,
    evaluate_difficult: bool = True,
    has_state: Variable | None = None,
    input_states: Sequence[Variable] | None = None,
    out_states: Sequence[Variable] | None = None,
    ap_version: str = "integral",
) -> Variable:
    """The mean over classes of average precision, ``ap_version`` ``"integral"`` or ``"11point"``.

    ``detect_res``: (label, score, box) and ``label``: (label, box) or (label, whether it is difficult, box),
    sequences, one for each image; boxes are shares of it. ``input_states``, where ``has_state`` holds 1, are
    what earlier batches have added up, and ``out_states`` what hold it now. ``background_label`` is not
    asked, as in 1.8.5: label 0 is not told apart.
    """
    if ap_version not in ("integral", "11point"):
        raise BadArgument(f"detection_map: ap_version is 'integral' or '11point', not {ap_version!r}")
    helper = LayerHelper("detection_map")
    made = helper.create_variable_for_type_inference("float32")
    states = out_states or [helper.create_variable_for_type_inference(kind) for kind in _STATES.values()]
    inputs = {"Label": label, "DetectRes": detect_res}
    if has_state is not None:
        inputs["HasState"] = has_state
    if input_states is not None:
        inputs |= dict(zip(("PosCount", "TruePos", "FalsePos"), input_states, strict=True))
    outputs = {"MAP": [made], **{slot: [each] for slot, each in zip(_STATES, states, strict=True)}}
    attrs = {
        "overlap_threshold": overlap_threshold,
        "evaluate_difficult": evaluate_difficult,
        "ap_type": ap_version,
        "class_num": class_num,
    }
    helper.append_op("detection_map", inputs=inputs, outputs=outputs, attrs=attrs)
    made.stop_gradient = True
    return made
