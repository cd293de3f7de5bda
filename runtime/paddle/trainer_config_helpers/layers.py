"""v2's layers by v1's names: ``fc_layer`` is ``paddle.layer.fc``.

Guarantee: a layer is v2's own; what v2 writes otherwise says how.
"""

from __future__ import annotations

from paddle._absent import absent
from paddle.v2 import layer

_ENDS_IN_LAYER = """
    addto batch_norm bilinear_interp block_expand clip concat conv_shift convex_comb crf crf_decoding crop
    cross_channel_norm ctc detection_output dot_prod dropout embedding eos expand fc gated_unit get_output
    gru_step gru_step_naive img_cmrnorm img_conv img_conv3d img_pool img_pool3d interpolation kmax_seq_score
    l2_distance linear_comb lstm_step maxout mixed multibox_loss multiplex nce out_prod pad pooling power
    prelu printer priorbox recurrent repeat resize roi_pool rotate row_conv row_l2_norm sampling_id
    scale_shift scale_sub_region scaling selective_fc seq_concat seq_reshape seq_slice slope_intercept spp
    sub_nested_seq sub_seq sum_to_one_norm switch_order tensor trans upsample warp_ctc
""".split()  # noqa: SIM905
_ENDS_IN_COST = ("cross_entropy", "cross_entropy_with_selfnorm", "multi_binary_label_cross_entropy")
_THE_SAME = """
    AggregateLevel BaseGeneratedInput BeamInput ExpandLevel GeneratedInput LayerOutput StaticInput
    SubsequenceInput beam_search classification_cost context_projection conv_operator conv_projection cos_sim
    cross_entropy_over_beam dotmul_operator dotmul_projection factorization_machine first_seq
    full_matrix_projection grumemory hsigmoid huber_classification_cost huber_cost huber_regression_cost
    identity_projection lambda_cost last_seq lstmemory memory mse_cost rank_cost recurrent_group
    regression_cost
    scaling_projection slice_projection smooth_l1_cost square_error_cost sum_cost table_projection
    trans_full_matrix_projection
""".split()  # noqa: SIM905
_OWN = {
    **{f"{name}_layer": getattr(layer, name) for name in _ENDS_IN_LAYER},
    **{name: getattr(layer, f"{name}_cost") for name in _ENDS_IN_COST},
    **{name: getattr(layer, name) for name in _THE_SAME},
    "maxid_layer": layer.max_id,
    "print_layer": layer.printer,
}
globals().update(_OWN)
data_layer = absent(
    "paddle.trainer_config_helpers.data_layer",
    "in v2 a data layer says what its slot is: paddle.layer.data(name=..., type=paddle.data_type...)",
)
__all__ = ["data_layer", *_OWN]
