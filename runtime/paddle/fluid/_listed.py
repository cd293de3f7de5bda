"""The names that modules of fluid list, from 0.14 to 1.8, and what is told of those that are not built.

It must never import what it names. Guarantee: a listed name that a module lacks raises AbsentName, with what
there is instead; any other name is an ordinary AttributeError.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from sys import modules
from typing import Any

from paddle._absent import AbsentName

LISTED = {
    "layers": """
        abs accuracy acos adaptive_pool2d adaptive_pool3d add_position_encoding addcmul addmm
        affine_channel affine_grid allclose anchor_generator arange argmax argmin argsort
        array_length array_read array_to_lod_tensor array_write asin assign atan auc
        autoincreased_step_counter BasicDecoder batch batch_norm beam_search beam_search_decode
        BeamSearchDecoder bilinear_tensor_product bipartite_match BlockGuard BlockGuardServ bmm
        box_clip box_coder box_decoder_and_assign bpr_loss brelu case cast Categorical ceil
        center_loss chunk_eval clamp clip clip_by_norm collect_fpn_proposals concat cond
        ConditionalBlock continuous_value_model conv2d conv2d_transpose conv3d conv3d_transpose
        cos cos_sim cosine_decay create_array create_global_var create_parameter
        create_py_reader_by_data create_tensor crf_decoding crop crop_tensor cross cross_entropy
        ctc_greedy_decoder cumsum data data_norm DecodeHelper Decoder deformable_conv
        deformable_roi_pooling density_prior_box detection_map detection_output diag diag_embed
        dice_loss dist distribute_fpn_proposals dot double_buffer dropout dynamic_decode
        dynamic_gru dynamic_lstm dynamic_lstmp DynamicRNN edit_distance elementwise_add
        elementwise_div elementwise_equal elementwise_floordiv elementwise_max elementwise_min
        elementwise_mod elementwise_mul elementwise_pow elementwise_sub elu embedding equal erf
        exp expand expand_as exponential_decay eye fc fill_constant fill_constant_batch_size_like
        filter_by_instag flatten flip floor fsp_matrix full full_like gather gather_nd gather_tree
        gaussian_random gaussian_random_batch_size_like gelu generate_mask_labels
        generate_proposal_labels generate_proposals get_places get_tensor_from_selected_rows Go
        greater_equal greater_than GreedyEmbeddingHelper grid_sampler group_norm gru_unit GRUCell
        hard_shrink hard_sigmoid hard_swish has_inf has_nan hash hsigmoid huber_loss IfElse
        im2sequence image_resize image_resize_short increment index_sample index_select
        inplace_abn instance_norm interpolate inverse_time_decay iou_similarity is_empty isfinite
        kldiv_loss kron l2_normalize label_smooth layer_norm leaky_relu less_equal less_than
        linear_chain_crf linear_lr_warmup linspace ListenAndServ load locality_aware_nms
        lod_append lod_rank_table lod_reset lod_tensor_to_array log log1p log_loss log_softmax
        logical_and logical_not logical_or logical_xor logsigmoid logsumexp lrn lstm lstm_unit
        LSTMCell margin_rank_loss matmul matrix_nms max_sequence_len maxout mean mean_iou
        merge_lod_tensor merge_selected_rows meshgrid mish mse_loss mul multi_box_head
        multiclass_nms multiplex MultivariateNormalDiag natural_exp_decay nce noam_decay nonzero
        Normal not_equal npair_loss one_hot ones ones_like open_files open_recordio_file pad pad2d
        pad_constant_like ParallelDo piecewise_decay pixel_shuffle polygon_box_transform
        polynomial_decay pool2d pool3d pow prelu Preprocessor Print prior_box prroi_pool
        psroi_pool py_func py_reader randint randn random_crop random_data_generator randperm
        range rank rank_loss read_file reciprocal Recv reduce_all reduce_any reduce_max
        reduce_mean reduce_min reduce_prod reduce_sum relu relu6 reorder_lod_tensor_by_rank
        reshape resize_bilinear resize_nearest resize_trilinear retinanet_detection_output
        retinanet_target_assign reverse rnn RNNCell roi_align roi_perspective_transform roi_pool
        roll round row_conv rpn_target_assign rsqrt sampled_softmax_with_cross_entropy
        SampleEmbeddingHelper sampling_id scale scatter scatter_nd scatter_nd_add Select selu Send
        sequence_concat sequence_conv sequence_enumerate sequence_expand sequence_expand_as
        sequence_first_step sequence_last_step sequence_mask sequence_pad sequence_pool
        sequence_reshape sequence_reverse sequence_scatter sequence_slice sequence_softmax
        sequence_unpad shape shard_index shrink_memory shuffle shuffle_channel sigmoid
        sigmoid_cross_entropy_with_logits sigmoid_focal_loss sign similarity_focus sin size slice
        smooth_l1 soft_relu softmax softmax_with_cross_entropy softplus softshrink softsign
        space_to_depth spectral_norm split split_lod_tensor sqrt square square_error_cost squeeze
        ssd_loss stack stanh StaticRNN StaticRNNMemoryLink strided_slice sum sums swish Switch
        switch_case t tanh tanh_shrink target_assign teacher_student_sigmoid_loss temporal_shift
        thresholded_relu topk trace TrainingHelper transpose tril triu
        unfold Uniform uniform_random uniform_random_batch_size_like unique unique_with_counts
        unsqueeze unstack upload
        math_op_patch layer_function_generator distributions
        warpctc where While while_loop WhileGuard yolo_box yolov3_loss
        zeros zeros_like
        """,
    "optimizer": """
        Adadelta AdadeltaOptimizer Adagrad AdagradOptimizer Adam Adamax AdamaxOptimizer
        AdamOptimizer DecayedAdagrad DecayedAdagradOptimizer DGCMomentumOptimizer Dpsgd
        DpsgdOptimizer ExponentialMovingAverage Ftrl FtrlOptimizer LambOptimizer LarsMomentum
        LarsMomentumOptimizer LookaheadOptimizer ModelAverage Momentum MomentumOptimizer Optimizer
        PipelineOptimizer RecomputeOptimizer RMSPropOptimizer SGD SGDOptimizer
        """,
    "initializer": """
        Bilinear BilinearInitializer Constant ConstantInitializer force_init_on_cpu init_on_cpu
        MSRA MSRAInitializer Normal NormalInitializer NumpyArrayInitializer TruncatedNormal
        TruncatedNormalInitializer Uniform UniformInitializer Xavier XavierInitializer
        """,
    "nets": """
        glu img_conv_group scaled_dot_product_attention sequence_conv_pool simple_img_conv_pool
        """,
    "contrib.layers": """
        basic_gru basic_lstm BasicGRUUnit BasicLSTMUnit ctr_metric_bundle
        fused_elemwise_activation fused_embedding_seq_pool match_matrix_tensor multiclass_nms2
        partial_concat partial_sum rank_attention search_pyramid_hash sequence_topk_avg_pooling
        shuffle_batch sparse_embedding tdm_child tdm_sampler tree_conv var_conv_2d
        """,
    "contrib.mixed_precision": "fp16_utils",
    "contrib.utils": """
        convert_dist_to_sparse_program load_persistables_for_increment load_persistables_for_inference
        lookup_table_utils
        """,
    "incubate.fleet.parameter_server.pslib": "fleet_embedding node optimizer_factory ps_pb2",
    "regularizer": """
        append_regularization_ops L1Decay L1DecayRegularizer L2Decay L2DecayRegularizer
        WeightDecayRegularizer
        """,
    "clip": """
        append_gradient_clip_ops error_clip_callback ErrorClipByValue GradientClipBase
        GradientClipByGlobalNorm GradientClipByNorm GradientClipByValue set_gradient_clip
        """,
    "backward": """
        append_backward calc_gradient gradients
        """,
    "framework": """
        ComplexVariable generate_control_dev_var_name get_all_op_protos IrGraph IrNode IrOpNode IrVarNode
        load_op_library NameScope OpProtoHolder ParamBase switch_device
        """,
    "debugger": """
        prepare_fast_nan_inf_debug repr_attr repr_lodtensor repr_selected_rows repr_tensor repr_tensor_array
        run_fast_nan_inf_debug
        """,
    "reader": "DataLoaderBase DygraphGeneratorLoader",
    "transpiler": "collective geo_sgd_transpiler GeoSgdTranspiler ServerRuntimeConfig",
    "transpiler.distribute_transpiler": "DistributedMode GeoSgdTranspiler ServerRuntimeConfig",
}
"""Names by module."""

_SERVERS = "fluid.DistributeTranspiler makes programs of trainers and servers"
_INSTEAD = {
    **dict.fromkeys(
        ("math_op_patch", "layer_function_generator"),
        "it is a module of upstream's own making of programs; Block.append_op appends operators",
    ),
    **dict.fromkeys(
        ("IrGraph", "IrNode", "IrOpNode", "IrVarNode"),
        "passes are written over Program.clone(), Block.ops and Block.append_op",
    ),
    **dict.fromkeys(
        ("OpProtoHolder", "get_all_op_protos"), "an operator of a program says its slots and attrs"
    ),
    **dict.fromkeys(("ParamBase", "DygraphGeneratorLoader"), "programs are static here"),
    "ComplexVariable": "numbers are real here",
    "load_op_library": "operators of one's own are written in Python (fluid.layers.py_func)",
    "NameScope": "fluid.name_scope(...) names parts of a program",
    "switch_device": "it computes on the CPU",
    **dict.fromkeys(
        ("repr_attr", "repr_lodtensor", "repr_selected_rows", "repr_tensor", "repr_tensor_array"),
        "it shows messages of protobuf; repr_var and repr_op show variables and operators",
    ),
    **dict.fromkeys(
        ("prepare_fast_nan_inf_debug", "run_fast_nan_inf_debug"),
        "fluid.layers.isfinite(x) says whether numbers are finite, and may be fetched",
    ),
    "DataLoaderBase": "loaders are fluid.io.DataLoader and fluid.io.PyReader",
    **dict.fromkeys(
        ("geo_sgd_transpiler", "GeoSgdTranspiler"),
        "DistributeTranspilerConfig has geo_sgd_mode, sync_mode and runtime_split_send_recv",
    ),
    "lstm": "1.8 computes it on GPUs alone: layers.rnn walks a cell, contrib.layers.basic_lstm is a stack",
    **dict.fromkeys(("ListenAndServ", "Send", "Recv", "BlockGuardServ"), _SERVERS),
    **dict.fromkeys(("Go", "Select"), "channels were taken out of fluid in 0.15"),
    "fp16_utils": "numbers are of single precision, and contrib.mixed_precision.decorate keeps them so",
    **dict.fromkeys(
        (
            *("convert_dist_to_sparse_program", "load_persistables_for_increment"),
            *("load_persistables_for_inference", "lookup_table_utils"),
        ),
        "fluid.io.load_persistables reads tables, and embedding(is_sparse=True) looks rows up",
    ),
    **dict.fromkeys(
        ("fleet_embedding", "node", "optimizer_factory", "ps_pb2"),
        "it wrote settings of Baidu's own servers; embedding(is_sparse=True) is spread by fleet",
    ),
    **dict.fromkeys(
        ("PipelineOptimizer", "DGCMomentumOptimizer"),
        "it spares what GPUs lack; minimize with the optimizer itself",
    ),
}


_SEEN_BY_ALL = frozenset({"core", "executor", "framework", "initializer", "io", "layers", "unique_name"})
"""Modules that upstream's modules have from others, and programs from these."""


def lacking(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module, which is asked only for names that it does not have."""
    listed = frozenset(LISTED[module.removeprefix("paddle.fluid.")].split())

    def look_up(name: str) -> Any:
        if name in listed:
            instead = _INSTEAD.get(name, "it is not built")
            raise AbsentName(f"{module}.{name} is not in this release: {instead}.")
        if name in _SEEN_BY_ALL:
            return import_module(f"paddle.fluid.{name}")
        found: Any = modules.get(module)
        near = get_close_matches(name, [each for each in dir(found) if not each.startswith("_")], 1)
        meant = f"; did you mean {near[0]}?" if near and not name.startswith("_") else ""
        raise AttributeError(f"{module}.{name} does not exist{meant}", name=name, obj=found)

    return look_up


def of_layers(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of layers, in which upstream had more than lies there now: any layer is
    found by the name of any of these modules."""
    missing = lacking("paddle.fluid.layers")

    def look_up(name: str) -> Any:
        layers = modules["paddle.fluid.layers"]
        if name.startswith("_") or name not in getattr(layers, "__all__", ()):
            return missing(name)
        return getattr(layers, name)

    return look_up
