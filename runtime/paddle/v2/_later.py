"""The layers of the original that this release does not have, by what they wait for."""

SEQUENCE_LAYERS = """
    BaseGeneratedInput BeamInput GeneratedInput StaticInput SubsequenceInput beam_search crf
    crf_decoding cross_entropy_over_beam ctc eos get_output gru_step gru_step_naive kmax_seq_score
    lstm_step memory recurrent recurrent_group row_conv seq_reshape seq_slice sub_nested_seq sub_seq
    warp_ctc
""".split()  # noqa: SIM905

IMAGE_LAYERS = """
    bilinear_interp block_expand conv_operator conv_projection conv_shift crop cross_channel_norm
    detection_output img_cmrnorm img_conv3d img_pool3d maxout multibox_loss pad priorbox
    roi_pool rotate scale_sub_region spp switch_order upsample
""".split()  # noqa: SIM905

OTHER_LAYERS = """
    clip convex_comb cos_sim cross_entropy_with_selfnorm_cost dot_prod dotmul_operator factorization_machine
    gated_unit hsigmoid huber_classification_cost huber_regression_cost interpolation l2_distance
    lambda_cost linear_comb multiplex nce out_prod power prelu printer rank_cost repeat resize row_l2_norm
    sampling_id scale_shift scaling scaling_projection selective_fc slice_projection smooth_l1_cost
    sum_to_one_norm tensor trans trans_full_matrix_projection
""".split()  # noqa: SIM905
