"""Operators of the host that have a test elsewhere, by which it is; and what PyTorch does not have."""

from __future__ import annotations

FLUID, STATIC = "faces/fluid/test_", "faces/static/test_"
LAYERS, PROGRAM = "faces/fluid/layers/test_", "program/"
BOXES = f"{LAYERS}boxes.py::test_boxes_are_those_of_1_8"
KEPT = f"{LAYERS}kept_boxes.py::test_what_is_kept_is_that_of_1_8"
PASSES = f"{LAYERS}two_passes.py::test_both_passes_are_those_of_1_8"
SEEN = f"{LAYERS}seen_apart.py::test_what_is_read_is_that_of_1_8_with_its_gradients"
DETECTORS, DIFFERING = f"{LAYERS}detectors.py::test_", f"{LAYERS}differing.py::test_"
RANKS = f"{FLUID}rank_tables.py::test_sequences_become_moments_and_sequences_again"
SAVED = f"{FLUID}io.py::test_operators_save_and_load"
DECODING, OLDER = f"{LAYERS}decoding.py::test_", f"{LAYERS}older_programs.py::test_"
DRAWN = f"{STATIC}distributions.py::test_what_is_drawn_has_the_shape_and_the_moments"
LOOPS, BRANCHES = f"{FLUID}control_flow.py::test_", f"{FLUID}branches.py::test_"
OPTIMIZERS, CLICKS = f"{PROGRAM}test_optimizers.py::test_", f"{LAYERS}clicks.py::test_"
TAGGED = f"{CLICKS}samples_that_bear_a_tag_are_kept_as_in_1_8_5"
TRANSDUCED = f"{STATIC}alignments.py::test_costs_and_slopes_are_those_of_the_wheel"

_OF_BOXES = (
    "bipartite_match box_clip box_coder iou_similarity mean_iou multiclass_nms multiclass_nms2 target_assign"
)
_OF_KEPT = """
    box_decoder_and_assign detection_map locality_aware_nms matrix_nms polygon_box_transform
    retinanet_detection_output
"""
_OF_PASSES = """
    collect_fpn_proposals distribute_fpn_proposals generate_mask_labels generate_proposal_labels
    generate_proposals retinanet_target_assign rpn_target_assign
"""
_OF_SEEN = """
    deformable_conv deformable_conv_v1 deformable_psroi_pooling prroi_pool psroi_pool
    roi_perspective_transform
"""
_OF_RANKS = """
    array_to_lod_tensor lod_rank_table lod_tensor_to_array max_sequence_len reorder_lod_tensor_by_rank
    shrink_rnn_memory
"""
VALUES = {
    **dict.fromkeys(_OF_BOXES.split(), BOXES),
    **dict.fromkeys(_OF_KEPT.split(), KEPT),
    **dict.fromkeys(_OF_PASSES.split(), PASSES),
    **dict.fromkeys(_OF_SEEN.split(), SEEN),
    **dict.fromkeys(_OF_RANKS.split(), RANKS),
    **dict.fromkeys(("roi_align", "roi_pool"), f"{DETECTORS}regions_are_cut_out_as_in_1_8"),
    "mine_hard_examples": f"{DETECTORS}priors_that_cost_the_same_are_chosen_as_in_1_8",
    "sigmoid_focal_loss": f"{DETECTORS}what_is_sure_and_right_costs_little",
    "yolo_box": f"{DETECTORS}cells_say_boxes_in_pixels",
    "yolov3_loss": f"{DETECTORS}a_grid_of_cells_costs_as_in_1_8",
    **dict.fromkeys(
        ("unique", "unique_with_counts"), f"{DIFFERING}values_come_in_the_order_in_which_they_are_met"
    ),
    **dict.fromkeys(("save", "save_combine", "load", "load_combine"), SAVED),
    **dict.fromkeys(("bernoulli", "multinomial", "dirichlet"), DRAWN),
    "poisson": f"{STATIC}array_formulas.py::test_what_is_drawn_is_of_the_shape_and_the_means_that_are_given",
    "randperm": f"{STATIC}functions.py::test_of_what_is_drawn",
    "random_crop": f"{CLICKS}a_crop_goes_on_from_the_seed_that_a_step_left",
    "class_center_sample": f"{STATIC}alignments.py::test_classes_of_labels_come_first_and_others_are_drawn",
    "warprnnt": TRANSDUCED,
    "viterbi_decode": f"{STATIC}decoding.py::test_the_best_chain_is_the_best_of_all",
    "gather_tree": f"{DECODING}a_tree_is_read_from_its_leaves",
    "beam_search": f"{FLUID}beams.py::test_what_has_ended_stays_and_a_sentence_of_ends_is_over",
    "beam_search_decode": f"{FLUID}beams.py::test_sentences_are_read_back_best_first",
    "ctc_align": f"{FLUID}tagging.py::test_an_alignment_is_read_without_repetitions_and_blanks",
    "sequence_erase": f"{FLUID}tagging.py::test_edits_are_counted_and_tokens_left_out",
    "filter_by_instag": TAGGED,
    "hash": f"{CLICKS}hashes_are_those_of_1_8_5_and_stay_in_their_sequences",
    "tdm_child": f"{LAYERS}trees.py::test_children_of_nodes_and_which_are_leaves",
    "tdm_sampler": f"{LAYERS}trees.py::test_nodes_of_each_layer_beside_the_way_to_a_leaf",
    "while": f"{LOOPS}a_loop_goes_round_while_its_condition_holds",
    "conditional_block": f"{BRANCHES}one_number_is_not_spread_to_the_sizes_of_the_other_branch",
    **dict.fromkeys(
        ("split_lod_tensor", "merge_lod_tensor"), f"{LOOPS}rows_go_the_way_that_their_condition_says"
    ),
    **dict.fromkeys(
        ("lod_array_length", "read_from_array", "write_to_array"), f"{LOOPS}a_loop_writes_and_reads_an_array"
    ),
    "tensor_array_to_tensor": f"{DECODING}the_most_likely_words_are_read_again_until_all_have_ended",
    "is_empty": f"{LAYERS}decoder.py::test_a_search_finds_what_the_originals_finds",
    "print": f"{LOOPS}what_is_printed_is_what_the_run_computed",
    "py_func": f"{LOOPS}a_function_of_python_is_called_with_tensors",
    "average_kept": f"{FLUID}averages.py::test_a_window_of_moving_means_ends_as_that_of_parameters_does",
    "moving_average": f"{OPTIMIZERS}a_moving_average_forgets_what_is_long_ago",
    "lookahead": f"{OPTIMIZERS}looking_ahead_goes_back_half_of_the_way",
    "fake_init": f"{PROGRAM}test_open_tables.py::test_an_id_has_no_row_until_it_enters",
    "orthogonal_random": f"{STATIC}weights.py::test_rows_begin_at_right_angles_and_filters_with_their_input",
    **dict.fromkeys(
        ("gaussian_random", "truncated_gaussian_random", "uniform_random"),
        f"{FLUID}parameter_attributes.py::test_first_values_are_spread_as_is_told",
    ),
    "assign_value": f"{STATIC}initializer.py::test_whole_numbers_are_first_values_of_a_parameter_of_floats",
    "fill_constant": f"{OLDER}a_variable_is_given_its_first_value_where_it_is_declared",
}
"""The test that compares what it gives with something."""

BETWEEN = f"{PROGRAM}hosts/test_host_gradients.py::test_"
THROUGH = f"{FLUID}gradients_through_host.py::test_"
APART = f"{LAYERS}seen_apart.py::test_gradients_are_those_of_central_differences"
ARRAYS = f"{THROUGH}gradients_go_through_what_is_computed_on_the_host"
MOMENTS = f"{THROUGH}a_recurrent_network_of_rank_tables_and_arrays_learns_all_its_weights"
REGIONS = f"{DETECTORS}gradients_go_back_to_what_a_region_saw"
_OF_ARRAYS = "py_func read_from_array tensor_array_to_tensor write_to_array"
_OF_MOMENTS = "array_to_lod_tensor lod_tensor_to_array reorder_lod_tensor_by_rank shrink_rnn_memory"
SLOPES = {
    **dict.fromkeys(_OF_SEEN.split(), APART),
    **dict.fromkeys(_OF_ARRAYS.split(), ARRAYS),
    **dict.fromkeys(_OF_MOMENTS.split(), MOMENTS),
    **dict.fromkeys(("roi_align", "roi_pool"), REGIONS),
    **dict.fromkeys(
        ("split_lod_tensor", "merge_lod_tensor"), f"{BRANCHES}weights_of_both_ways_learn_from_their_rows"
    ),
    "sigmoid_focal_loss": f"{DETECTORS}what_is_sure_and_right_costs_little",
    "yolov3_loss": f"{DETECTORS}gradients_of_a_grid_of_cells",
    "warprnnt": TRANSDUCED,
    "filter_by_instag": TAGGED,
    "similarity_focus": f"{BETWEEN}what_is_alike_has_no_slope_though_one_comes_by",
}
"""The test that holds its gradient to central differences, or to figures of the original."""

OF_BLOCKS = {
    "while": ARRAYS,
    "conditional_block": f"{BRANCHES}weights_of_the_branch_that_is_taken_learn",
}
"""Gradients go through what a block has done, and the operator has nothing to do: a test that runs it so."""

IDLE = {
    "average_accumulates": "who keeps the parameters averages them",
    "read": "a run is fed before it begins",
    "listen_and_serv": "serves rows until it is told to end",
}
"""What gives nothing, and why."""

NO_SUCH = "no such function"
OF_VISION = "of torchvision"
OF_PROGRAMS = "programs of Python have it of their own"
OTHER_NUMBERS = "other random numbers"
WITHOUT = {
    **dict.fromkeys((*_OF_BOXES.split(), *_OF_KEPT.split(), *_OF_PASSES.split()), NO_SUCH),
    **dict.fromkeys((*_OF_SEEN.split(), "roi_align", "roi_pool", "sigmoid_focal_loss"), OF_VISION),
    **dict.fromkeys(("mine_hard_examples", "yolo_box", "yolov3_loss"), NO_SUCH),
    **dict.fromkeys((*_OF_RANKS.split(), "split_lod_tensor", "merge_lod_tensor"), "no sequences of rows"),
    **dict.fromkeys(("while", "conditional_block", "print", "py_func", "is_empty"), OF_PROGRAMS),
    **dict.fromkeys((*_OF_ARRAYS.split(), "lod_array_length"), OF_PROGRAMS),
    **dict.fromkeys(("save", "save_combine", "load", "load_combine"), "files of their own"),
    **dict.fromkeys(
        ("bernoulli", "multinomial", "dirichlet", "poisson", "randperm", "random_crop"), OTHER_NUMBERS
    ),
    **dict.fromkeys(("class_center_sample", "tdm_sampler", "orthogonal_random"), OTHER_NUMBERS),
    **dict.fromkeys(("gaussian_random", "truncated_gaussian_random", "uniform_random"), OTHER_NUMBERS),
    **dict.fromkeys(("unique", "unique_with_counts"), "no order in which values are met"),
    "warprnnt": "of torchaudio",
    **dict.fromkeys(("viterbi_decode", "gather_tree", "beam_search", "beam_search_decode"), NO_SUCH),
    **dict.fromkeys(("ctc_align", "sequence_erase", "filter_by_instag", "hash", "tdm_child"), NO_SUCH),
    **dict.fromkeys(("average_kept", "moving_average", "lookahead", "average_accumulates"), NO_SUCH),
    **dict.fromkeys(("assign_value", "fill_constant"), "first values that are told"),
    **dict.fromkeys(
        ("fake_init", "listen_and_serv", "read"), "no parameter servers and no readers of programs"
    ),
}
"""Why PyTorch is not asked."""
