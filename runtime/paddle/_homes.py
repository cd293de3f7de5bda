"""Where the names of the 2.x generation are at home.

It must never import what it names. Guarantee: no name is here twice.
"""

from __future__ import annotations

_NAMES = {
    "_eager": "Tensor",
    "_mode": """
        disable_static enable_grad enable_static in_dynamic_mode is_grad_enabled no_grad set_grad_enabled
        """,
    "device": """
        get_cudnn_version get_device is_compiled_with_cinn is_compiled_with_cuda
        is_compiled_with_custom_device is_compiled_with_distribute is_compiled_with_ipu is_compiled_with_npu
        is_compiled_with_rocm is_compiled_with_xpu set_device
        """,
    "_program.description.limits": "finfo iinfo",
    "_program.files.objects": "load save",
    "_program.description.dtypes": "dtype",
    "_program.running.places": "CPUPlace CUDAPinnedPlace CUDAPlace",
    "fluid": "core",
    "fluid.dataset": "DatasetFactory InMemoryDataset QueueDataset",
    "fluid.framework": "get_flags set_flags",
    "framework": "ParamAttr get_default_dtype seed set_default_dtype",
    "linalg": "cholesky eigvalsh inverse",
    "tensor.accumulation": "cummax cummin cumprod cumulative_trapezoid logcumsumexp trapezoid",
    "tensor.attribute": "rank shape",
    "tensor.bits": "bitwise_and bitwise_not bitwise_or bitwise_xor",
    "tensor.creation": """
        arange assign create_parameter diag empty empty_like eye full full_like linspace logspace meshgrid
        ones ones_like to_tensor tril triu zeros zeros_like
        """,
    "tensor.counts": """
        bincount bucketize histogram mode nanmedian nanquantile searchsorted unique_consecutive
        """,
    "tensor.diagonals": "cross diagflat diagonal rot90 tril_indices triu_indices vander",
    "tensor.edits": """
        diagonal_scatter index_add index_fill index_put put_along_axis renorm select_scatter
        """,
    "tensor.formulas": """
        acosh asinh atanh deg2rad expm1 fmax fmin frac heaviside hypot isclose lerp logaddexp logit
        nan_to_num rad2deg trunc
        """,
    "tensor.einsum": "einsum",
    "tensor.linalg": "bmm dist dot matmul mm mv norm",
    "tensor.logic": """
        allclose equal equal_all greater_equal greater_than is_empty is_tensor less_equal less_than
        logical_and logical_not logical_or logical_xor not_equal
        """,
    "tensor.manipulation": """
        broadcast_to cast chunk concat crop expand expand_as flatten flip gather gather_nd reshape
        reverse roll scatter scatter_nd scatter_nd_add shard_index slice split squeeze stack strided_slice t
        tile transpose unbind unique unsqueeze unstack
        """,
    "tensor.math": """
        abs acos add add_n all any asin atan ceil clip cos cosh cumsum divide erf exp floor
        floor_divide floor_mod increment isfinite isinf isnan kron log log10 log1p log2 logsumexp
        max maximum min minimum mod multiplex multiply neg pow prod reciprocal remainder round rsqrt
        scale sign sin sinh sqrt square stanh subtract sum tan tanh trace
        """,
    "tensor.pieces": "as_strided cdist combinations take unfold vsplit",
    "tensor.placing": """
        atleast_1d atleast_2d atleast_3d broadcast_shape broadcast_tensors clone diag_embed is_complex
        is_floating_point is_integer masked_fill moveaxis repeat_interleave take_along_axis unflatten
        view view_as
        """,
    "tensor.random": """
        bernoulli multinomial normal poisson rand randint randint_like randn randperm standard_normal uniform
        """,
    "tensor.search": """
        argmax argmin argsort index_sample index_select masked_select nonzero sort topk where
        """,
    "tensor.special": """
        angle atan2 conj digamma erfinv i0 i0e i1 i1e lgamma multigammaln nextafter polygamma real sgn
        """,
    "tensor.stat": "mean numel std var",
    "tensor.tallies": """
        addmm amax amin count_nonzero diff inner kthvalue median nanmean nansum outer quantile tensordot
        """,
    "tensor.wholes": "frexp gcd lcm ldexp",
}
HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
"""The module, without ``paddle.``, of every name that ``paddle`` itself has of it."""

_FILES = {
    "distributed.fleet.data_generator": "data_generator",
    "distributed.fleet.dataset": "dataset",
    "distribution": """
        bernoulli beta categorical cauchy dirichlet exponential_family geometric gumbel independent laplace
        lognormal multinomial normal transformed_distribution uniform
        """,
    "incubate.optimizer": "lookahead modelaverage",
    "io": "dataloader reader",
    "metric": "metrics",
    "nn.functional": "common distance extension vision",
    "nn.initializer": "assign constant dirac initializer kaiming normal orthogonal uniform xavier",
    "nn.layer": "common distance vision",
    "nn.utils": "spectral_norm_hook transform_parameters weight_norm_hook",
    "optimizer": "adadelta adagrad adam adamax adamw lamb momentum optimizer rmsprop sgd",
    "static": "input",
    "static.amp": "decorator fp16_lists",
    "static.nn": "common control_flow loss metric sequence_lod",
    "tensor": "array ops",
    "text.datasets": "conll05 imdb imikolov movielens uci_housing wmt14 wmt16",
}
FILES = {
    "io.dataloader.batch_sampler": "io",
    "io.dataloader.collate": "_data.collating",
    "io.dataloader.dataset": "io",
    "io.dataloader.sampler": "io",
    "static.io": "fluid.io",
    **{f"{package}.{name}": package for package, names in _FILES.items() for name in names.split()},
}
"""Files of the original from which programs import what belongs to a package, and where it is here."""

DTYPES = {
    "bfloat16": "BF16",
    "bool": "BOOL",
    "float16": "FP16",
    "float32": "FP32",
    "float64": "FP64",
    "int8": "INT8",
    "int16": "INT16",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
}
"""The members of VarType that ``paddle`` calls by numpy's names."""

MODULES = frozenset(
    {
        *(
            "common_ops_import",
            "device",
            "distribution",
            "framework",
            "geometric",
            "incubate",
            "linalg",
            "nn",
            "regularizer",
            "static",
            "tensor",
        ),
        "utils",
    }
)
"""Modules of the 2.x generation besides those that other generations have too."""
