"""Operators that are lowered to those of the engine and have a test elsewhere, by which it is."""

from __future__ import annotations

FLUID, STATIC = "faces/fluid/test_", "faces/static/test_"
LAYERS, PROGRAM = "faces/fluid/layers/test_", "program/"
TYPES = "faces/static/dtypes/test_"

_COMPARED = {
    f"{FLUID}dense_layers.py::test_a_layer_gives_what_numpy_does": """
        arg_max argsort batch_norm bilinear_tensor_product bpr_loss cast clip concat cos_sim cross_entropy
        cross_entropy2 cumsum expand expand_as fill_any_like fill_constant fill_constant_batch_size_like
        flatten2 gather group_norm huber_loss instance_norm label_smooth layer_norm log_loss lrn
        margin_rank_loss matmul maxout mul nearest_interp norm one_hot pad pool2d prelu rank_loss reduce_max
        reduce_mean reduce_prod reduce_sum reshape2 reverse shape sigmoid_cross_entropy_with_logits size
        slice smooth_l1_loss softmax_with_cross_entropy split squeeze2 stack strided_slice sum top_k
        transpose2 unsqueeze2 unstack
    """,
    f"{FLUID}sequences.py::test_sequences_are_joined_cut_turned_and_reshaped": """
        sequence_concat sequence_reverse sequence_slice
    """,
    f"{FLUID}sequences.py::test_a_row_is_expanded_to_sequences_and_a_sequence_to_parts": """
        sequence_expand
    """,
    f"{FLUID}sequences.py::test_windows_are_convolved_within_their_sequence": "row_conv sequence_conv",
    f"{FLUID}sequences.py::test_sequences_are_pooled_and_empty_ones_become_the_value_for_them": """
        sequence_pool
    """,
    f"{FLUID}sequences.py::test_a_softmax_is_over_each_sequence": "sequence_softmax",
    f"{FLUID}recurrent.py::test_a_gru_is_what_it_is_defined_as": "gru",
    f"{LAYERS}arrays.py::test_a_layer_gives_what_1_8_5_gives": """
        assign_value bmm dot flip index_sample index_select meshgrid roll trace tril_triu
    """,
    f"{STATIC}formulas.py::test_values_and_slopes_are_those_of_the_formulas": """
        diag_embed flatten_contiguous_range kthvalue one_hot_v2 reduce_min where
    """,
    f"{PROGRAM}files/test_operators_of_the_original.py::test_it_is_computed": """
        diag eye pixel_shuffle rnn_memory_helper shuffle_channel
    """,
    f"{LAYERS}paddings.py::test_layers_give_what_the_original_gives": """
        conv2d conv2d_transpose depthwise_conv2d max_pool2d_with_index
    """,
    f"{STATIC}functions.py::test_of_two_tensors": "expand_v2 tile top_k_v2",
    f"{LAYERS}seen_apart.py::test_what_is_read_is_that_of_1_8_with_its_gradients": """
        bilinear_interp space_to_depth trilinear_interp
    """,
    f"{STATIC}volumes.py::test_layers_give_what_the_originals_do": "conv3d conv3d_transpose pool3d",
    f"{LAYERS}boxes.py::test_boxes_are_those_of_1_8": "anchor_generator density_prior_box prior_box",
    f"{FLUID}parameter_attributes.py::test_a_table_whose_gradient_is_rows_moves_as_a_dense_one": """
        clip_by_norm
    """,
    f"{STATIC}windows.py::test_values_and_slopes_are_those_of_numpy": "pad3d temporal_shift",
    f"{FLUID}tagging.py::test_a_chain_costs_what_its_definition_says_padded_or_not": """
        crf_decoding linear_chain_crf
    """,
    f"{FLUID}sequences.py::test_sequences_are_padded_unpadded_and_masked": """
        sequence_mask sequence_pad sequence_unpad
    """,
    f"{FLUID}recurrent.py::test_one_moment_of_a_gru": "gru_unit",
    f"{STATIC}options.py::test_channels_that_come_last_are_dropped_and_bent_as_channels": "dropout",
    f"{LAYERS}arguments.py::test_a_crop_has_the_sizes_that_it_is_told_and_else_what_is_left": """
        crop_tensor
    """,
    f"{LAYERS}cells.py::test_a_stack_begins_with_what_it_is_given": "recurrent",
    f"{FLUID}branches.py::test_a_branch_that_is_not_taken_counts_and_prints_nothing": "print",
    f"{FLUID}control_flow.py::test_a_gradient_goes_through_the_branch_that_was_taken": "conditional_block",
    f"{STATIC}functions.py::test_of_scores_and_labels": "accuracy",
    f"{LAYERS}click_counts.py::test_a_row_is_given_back_its_own_counts": "cvm",
    f"{LAYERS}click_counts.py::test_what_is_normalized_is_scaled_and_shifted": "data_norm",
    f"{FLUID}exported_recurrences.py::test_what_was_saved_computes_the_same": "dynamic_recurrent",
    f"{TYPES}floats_alone.py::test_images_of_bytes_are_resized": "bilinear_interp_v2",
    f"{STATIC}computed_arguments.py::test_integers_and_truths_are_put_on_diagonals_summed_and_halved": """
        diag_v2
    """,
    f"{STATIC}recurrence.py::test_a_cell_is_heard_beyond_the_length_and_a_network_is_not": "rnn",
    f"{LAYERS}axes_from_values.py::test_an_axis_that_is_computed_is_that_axis": "pad2d",
    f"{LAYERS}axes_from_values.py::test_a_rate_follows_from_variables": "increment",
    f"{LAYERS}decoding.py::test_words_are_drawn_by_what_is_likely": "sampling_id",
    f"{STATIC}putting.py::test_a_number_is_spread_over_what_is_named": "set_value",
    f"{STATIC}windows.py::test_alignments_cost_what_they_do_by_hand": "warpctc",
    f"{STATIC}functions.py::test_of_images": "nearest_interp_v2",
    f"{LAYERS}older_programs.py::test_rows_are_shuffled_and_their_gradients_go_back_to_them": "shuffle_batch",
    f"{FLUID}recurrent.py::test_a_projected_lstm_remembers_its_projection": "lstmp",
    f"{FLUID}recurrent.py::test_an_lstm_is_what_it_is_defined_as": "lstm",
    f"{LAYERS}volumes.py::test_maxima_and_which_voxels_they_are_as_the_original_has_them": """
        max_pool3d_with_index
    """,
    f"{LAYERS}arguments.py::test_a_tree_of_ones_own_costs_what_its_turns_do": "hierarchical_sigmoid",
    f"{LAYERS}clicks.py::test_a_batch_norm_in_place_is_what_1_8_5_gives": "inplace_abn",
    f"{LAYERS}clicks.py::test_a_class_that_is_the_label_counts_against_it_where_hits_stay": "sample_logits",
    f"{FLUID}tagging.py::test_labels_are_told_from_drawn_classes": "nce",
    f"{STATIC}functions.py::test_of_chances": "bce_loss",
    f"{LAYERS}clicks.py::test_what_is_drawn_is_another_in_every_step_within_its_bounds_and_of_its_dtype": """
        randint
    """,
    f"{LAYERS}detectors.py::test_channels_have_a_scale_and_a_bias": "affine_channel",
    f"{FLUID}sequences.py::test_ids_are_enumerated_and_updates_scattered": """
        sequence_enumerate sequence_scatter
    """,
    f"{PROGRAM}test_other_sizes.py::test_a_smaller_image_is_filled_up_to_the_size_of_another": """
        pad_constant_like
    """,
    f"{FLUID}tagging.py::test_chunks_are_counted": "chunk_eval",
    f"{FLUID}tagging.py::test_edits_are_counted_and_tokens_left_out": "edit_distance",
    f"{FLUID}sequences.py::test_windows_of_an_image_are_a_sequence": "im2sequence",
    f"{STATIC}names.py::test_what_is_scattered_adds_up_in_zeros": "scatter_nd_add",
}
VALUES = {type: node for node, types in _COMPARED.items() for type in types.split()}
"""The test that compares what it gives with something."""

_LEARN = """
    gru lod_reset row_conv sequence_concat sequence_conv sequence_expand sequence_expand_as sequence_pad
    sequence_pool sequence_reshape sequence_reverse sequence_scatter sequence_slice sequence_softmax
    sequence_unpad
"""
SLOPES = dict.fromkeys(
    _LEARN.split(), f"{FLUID}sequence_gradients.py::test_the_gradient_is_the_slope_of_the_program"
)
"""The test that holds its gradient to central differences where the one above compares values alone."""

HERE = {
    "auc": "test_an_area_under_a_curve_is_the_share_of_pairs_in_their_order",
    **dict.fromkeys(
        ("lod_reset", "sequence_expand_as", "sequence_reshape"),
        "test_elements_stay_where_their_sequences_become_others",
    ),
    "sync_batch_norm": "test_a_batch_norm_of_several_devices_is_one_of_the_batch_and_moves_what_is_kept",
    **dict.fromkeys(
        """
        gaussian_random gaussian_random_batch_size_like truncated_gaussian_random uniform_random
        uniform_random_batch_size_like
        """.split(),  # noqa: SIM905  read in columns
        "test_what_is_drawn_lies_where_it_should_and_has_its_moments",
    ),
}
"""The test beside the list that does."""

IDLE = {
    "send": "moves parameters at servers, as tests of clusters compare",
    **dict.fromkeys(
        ("send_barrier", "recv", "fetch_barrier", "split_byref", "split_selected_rows"), "is done by send"
    ),
}
"""What gives nothing, and why."""
