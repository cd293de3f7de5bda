"""What dtypes, axes and counts layers take: what the original refuses these refuse, by the argument's name.

It must never know what a layer computes. Guarantee: what is refused is told before anything is appended. What
the original takes as float32 alone is taken as float64 too, for it is computed alike here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from paddle._program.writing.taking import Wanted, checked
from paddle.fluid.layers.fitting import FITS

Layer = TypeVar("Layer", bound=Callable[..., Any])
FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int32", "int64")
NUMBERS = (*FLOATS, *INTEGERS)
_FLOATS_OF_X = """
    acos asin atan brelu ceil clip clip_by_norm cos cosh dropout elu erf floor gelu hard_shrink hard_sigmoid
    hard_swish leaky_relu log log1p logsigmoid maxout mean mish pixel_shuffle prelu reciprocal relu relu6
    round rsqrt selu sigmoid sign silu sin sinh soft_relu softplus softshrink softsign sqrt stanh swish tan
    tanh tanh_shrink thresholded_relu kldiv_loss smooth_l1 bilinear_tensor_product crop l2_normalize
    unfold
    """
_NUMBERS_OF_X = """
    abs crop_tensor cumsum exp expand_as increment is_empty isfinite lod_append lod_reset pad pow reshape
    sequence_expand sequence_expand_as sequence_pad sequence_reverse sequence_unpad square sum transpose
    """
_NUMBERS_OF_INPUT = """
    adaptive_pool2d adaptive_pool3d diag_embed index_select pad2d reduce_max reduce_mean reduce_min
    reduce_prod reduce_sum sequence_concat sequence_reshape sequence_scatter sequence_slice shape
    strided_slice sums t trace tril triu
    """
_FLOATS_OF_INPUT = """
    accuracy add_position_encoding addmm auc batch_norm bpr_loss center_loss continuous_value_model conv2d
    conv2d_transpose conv3d conv3d_transpose cross_entropy crf_decoding data_norm dice_loss dynamic_gru
    dynamic_lstm dynamic_lstmp fc group_norm gru_unit hsigmoid huber_loss im2sequence inplace_abn
    instance_norm layer_norm linear_chain_crf log_loss log_softmax lrn mse_loss nce row_conv sequence_conv
    sequence_first_step sequence_last_step sequence_pool sequence_softmax similarity_focus softmax
    square_error_cost teacher_student_sigmoid_loss uniform_random_batch_size_like warpctc
    """
_OF_TWO = "add div floordiv max min mod mul pow sub"
_COMPARED = "equal greater_equal greater_than less_equal less_than not_equal"
_FAMILIES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (FLOATS, "x", _FLOATS_OF_X),
    (FLOATS, "input", _FLOATS_OF_INPUT),
    (FLOATS, "x y", "addmm dist fsp_matrix matmul mul smooth_l1"),
    (FLOATS, "weight", "spectral_norm"),
    (FLOATS, "X Y", "cos_sim"),
    (FLOATS, "logits", "sampled_softmax_with_cross_entropy"),
    (FLOATS, "label", "huber_loss label_smooth log_loss mse_loss square_error_cost"),
    (FLOATS, "label", "teacher_student_sigmoid_loss"),
    (FLOATS, "label left right", "margin_rank_loss rank_loss"),
    (FLOATS, "anchor positive", "npair_loss"),
    (FLOATS, "target", "kldiv_loss"),
    (FLOATS, "pre_scores scores", "beam_search"),
    (FLOATS, "hidden", "gru_unit"),
    (FLOATS, "x label", "sigmoid_cross_entropy_with_logits"),
    (FLOATS, "hidden_t_prev cell_t_prev x_t", "lstm_unit"),
    (FLOATS, "dtype", "dynamic_lstm dynamic_lstmp embedding gaussian_random label_smooth"),
    (
        ("float32", "float64"),
        "dtype",
        "gaussian_random_batch_size_like uniform_random uniform_random_batch_size_like",
    ),
    (NUMBERS, "x", _NUMBERS_OF_X),
    (NUMBERS, "input", _NUMBERS_OF_INPUT),
    (NUMBERS, "x y", " ".join([f"elementwise_{each}" for each in _OF_TWO.split()])),
    (NUMBERS, "x y", _COMPARED),
    (NUMBERS, "x y", "dot kron"),
    (("float32", "float64"), "x", "logsumexp"),
    (NUMBERS, "input tensor1 tensor2", "addcmul"),
    (NUMBERS, "x", "index_sample"),
    (NUMBERS, "pad_value", "sequence_pad"),
    (NUMBERS, "diagonal", "diag"),
    (NUMBERS, "dtype", "linspace"),
    (NUMBERS, "updates", "scatter_nd scatter_nd_add sequence_scatter"),
    (NUMBERS, "ref", "scatter_nd_add"),
    (NUMBERS, "y", "pad_constant_like"),
    (NUMBERS, "inputs", "multiplex"),
    (("float32", "float64", *INTEGERS), "dtype", "arange range"),
    ((*NUMBERS, "bool"), "x", "expand ones_like stack zeros_like"),
    ((*NUMBERS, "bool"), "input", "Print"),
    ((*NUMBERS, "bool"), "target_tensor", "expand_as"),
    ((*NUMBERS, "bool"), "dtype", "fill_constant fill_constant_batch_size_like full full_like ones zeros"),
    ((*NUMBERS, "bool", "uint8"), "x", "cast"),
    ((*NUMBERS, "bool", "uint8", "int8"), "dtype", "cast create_tensor"),
    ((*NUMBERS, "int8"), "x", "flatten"),
    ((*NUMBERS, "int8"), "input", "squeeze"),
    ((*NUMBERS, "int8", "int16", "uint8"), "x", "argmax argmin reverse scale"),
    ((*NUMBERS, "int8", "int16", "uint8"), "input", "argsort"),
    (INTEGERS, "input", "hash one_hot sequence_enumerate"),
    (INTEGERS, "index", "index_sample index_select"),
    (INTEGERS, "index", "gather gather_nd multiplex scatter scatter_nd scatter_nd_add sequence_scatter"),
    (INTEGERS, "offset length", "sequence_slice"),
    (INTEGERS, "label", "accuracy auc bpr_loss warpctc"),
    (("uint8", *INTEGERS), "branch_index", "switch_case"),
    (("int64",), "input", "chunk_eval edit_distance embedding"),
    (("int64",), "label", "chunk_eval edit_distance hsigmoid linear_chain_crf nce"),
    (("int64",), "label", "sampled_softmax_with_cross_entropy"),
    (("int64",), "pre_ids", "beam_search"),
    (("int64",), "i", "array_read array_write"),
    (("int64",), "length", "sequence_unpad"),
    (("int64",), "input", "shard_index"),
    (("bool",), "x", "logical_not"),
    (("bool",), "x y", "logical_and logical_or logical_xor"),
    (("bool",), "input", "reduce_all reduce_any"),
    (("bool",), "pred", "cond"),
)
"""Dtypes, arguments, and layers in which they are of those."""


_AXES: tuple[tuple[tuple[int, int], str, str], ...] = (
    ((4, 4), "x", "maxout pixel_shuffle shuffle_channel"),
    ((4, 4), "input", "conv2d conv2d_transpose im2sequence pad2d"),
    ((5, 5), "input", "adaptive_pool3d conv3d conv3d_transpose pool3d"),
    ((2, 2), "x y", "bilinear_tensor_product"),
    ((2, 2), "input", "dynamic_gru dynamic_lstm dynamic_lstmp gru_unit sequence_conv"),
    ((2, 3), "input", "row_conv"),
    ((2, 2), "hidden", "gru_unit"),
    ((2, 2), "input label", "log_loss"),
    ((2, 2), "input", "hsigmoid"),
    ((2, 2), "logits label", "sampled_softmax_with_cross_entropy"),
    ((2, 3), "input label", "chunk_eval edit_distance linear_chain_crf"),
    ((1, 2), "left right label", "rank_loss"),
    ((2, 99), "input", "accuracy auc cross_entropy fc nce"),
    ((2, 99), "label", "accuracy"),
    ((2, 99), "y", "mul"),
    ((2, 99), "input", "trace tril triu"),
    ((2, 2), "input x y", "addmm"),
    ((2, 2), "input", "center_loss"),
    ((1, 2), "x y", "dot"),
    ((3, 3), "x y", "bmm"),
    ((4, 4), "x y", "fsp_matrix"),
    ((4, 4), "input", "similarity_focus"),
    ((4, 4), "x", "unfold"),
)
"""How many axes, of which arguments, of which layers."""
_ALIKE = {
    "dot": ("x", "y"),
    "huber_loss": ("input", "label"),
    "kldiv_loss": ("x", "target"),
    "margin_rank_loss": ("label", "left", "right"),
    "rank_loss": ("label", "left", "right"),
    "sigmoid_cross_entropy_with_logits": ("x", "label"),
    "smooth_l1": ("x", "y"),
}
_WITHIN = {"concat": ("axis", "input", 0), "glu": ("dim", "input", 0), "softmax": ("axis", "input", 0)} | {
    "stack": ("axis", "x", 1)
}
"""Of layers: an argument that is an axis, whose, and of how many more."""
_POSITIVE = frozenset(
    """
    beam_size depth filter_size future_context_size group groups num_classes num_filters num_heads
    num_neg_samples num_thresholds num_total_classes proj_size upscale_factor win_size
    """.split()  # noqa: SIM905  read in columns
)


def _by_layer(families: tuple[tuple[Any, str, str], ...]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for trait, arguments, layers in families:
        for layer in layers.split():
            found.setdefault(layer, {}).update(dict.fromkeys(arguments.split(), trait))
    return found


_DTYPES_BY_LAYER, _AXES_BY_LAYER = _by_layer(_FAMILIES), _by_layer(_AXES)


def taking(layer: Layer) -> Layer:
    """A layer whose arguments are checked, by its signature and what stands here of it."""
    name = layer.__name__
    wanted = Wanted(
        _DTYPES_BY_LAYER.get(name, {}),
        _AXES_BY_LAYER.get(name, {}),
        _ALIKE.get(name, ()),
        _POSITIVE,
        _WITHIN.get(name),
        FITS.get(name),
    )
    return checked(layer, wanted)
