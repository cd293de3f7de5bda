"""What PyTorch makes of the operators that the later generations of the API brought, by type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: pip install -e '.[peers]'")
F = torch.nn.functional

Tensor = Any
Slots = dict[str, list[Tensor]]
Twin = Callable[[Slots, dict[str, Any]], Tensor]


def of_x(function: Callable[..., Tensor], *names: str) -> Twin:
    """Of the first variable in slot X, and of attributes."""
    return lambda slots, attrs: function(slots["X"][0], *(attrs[name] for name in names))


def of_two(function: Callable[[Tensor, Tensor], Tensor], second: str = "Y") -> Twin:
    return lambda slots, attrs: function(slots["X"][0], slots[second][0])


def multiplied(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    x, y = slots["X"][0], slots["Y"][0]
    x = x.transpose(-1, -2) if attrs["transpose_X"] else x
    return attrs["alpha"] * (x @ (y.transpose(-1, -2) if attrs["transpose_Y"] else y))


def product(x: Tensor, dim: int | tuple[int, ...] | None, keep_dim: bool) -> Tensor:
    """PyTorch multiplies along one axis at a time, or along all."""
    if dim is None:
        return x.prod().reshape(1)
    for axis in sorted((dim,) if isinstance(dim, int) else (d % x.ndim for d in dim))[::-1]:
        x = x.prod(axis, keepdim=keep_dim)
    return x


def added_up(x: Tensor, axis: int, exclusive: bool, reverse: bool) -> Tensor:
    given = x.flip(axis) if reverse else x
    sums = given.cumsum(axis) - given if exclusive else given.cumsum(axis)
    return sums.flip(axis) if reverse else sums


def reshaped_by(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    sizes = [n if isinstance(n, int) else slots["Like"][n[0]].shape[n[1]] for n in attrs["sizes"]]
    return slots["X"][0].reshape(sizes)


def unsqueezed(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    for axis in axes:
        x = x.unsqueeze(axis)
    return x


def runs(slots: Slots) -> list[Tensor]:
    return list(torch.tensor_split(slots["X"][0], slots["Offsets"][0][1:-1]))


def padded(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    longest, pad = len(slots["Places"][0]), slots["Pad"][0].item()
    return torch.stack([F.pad(run, (0, 0, 0, longest - len(run)), value=pad) for run in runs(slots)])


def unpadded(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    lengths = slots["Offsets"][0].diff().tolist()
    return torch.cat([run[:length] for run, length in zip(slots["X"][0], lengths, strict=True)])


def put(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    x, index, updates = slots["X"][0], slots["Index"][0].reshape(-1), slots["Updates"][0]
    if attrs["overwrite"]:
        return x.index_copy(0, index, updates)
    return x.index_fill(0, index, 0).index_add(0, index, updates)


def put_in_sequences(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    lengths = slots["Offsets"][0].diff()
    rows = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    at, updates = (rows, slots["Ids"][0].reshape(-1)), slots["Updates"][0].reshape(-1)
    return slots["X"][0].index_put(at, updates, accumulate=True)


def convolved_back(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    """Rows and columns behind are told as a size here, and as how many more they are there."""
    given = slots["X"][0], slots["Filter"][0], None, attrs["strides"], attrs["paddings"]
    rest = attrs["groups"], attrs["dilations"]
    plain = F.conv_transpose2d(*given, 0, *rest)
    told = [size - own for size, own in zip(attrs["output_size"], plain.shape[2:], strict=False)]
    more = told or attrs["output_padding"]
    return F.conv_transpose2d(*given, more, *rest) if more else plain


def unfolded(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    above, left, below, right = attrs["paddings"]
    around = F.pad(slots["X"][0], (left, right, above, below))
    return F.unfold(around, attrs["kernels"], stride=attrs["strides"]).transpose(1, 2).flatten(0, 1)


def filled(slots: Slots, attrs: dict[str, Any]) -> Tensor:
    shape = list(attrs["shape"])
    shape[attrs["output_dim_idx"]] = slots["X"][0].shape[attrs["input_dim_idx"]]
    return torch.full(shape, attrs["value"])


OF_ONE = ("rsqrt", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "erf")
OF_ONE += ("floor", "ceil", "round", "sign", "logical_not")
BENT = ("mish", "softplus", "logsigmoid", "selu", "relu6")
OF_TWO = ("less_equal", "greater_equal", "not_equal", "logical_and", "logical_or", "logical_xor")
PLAIN = {
    **{name: getattr(torch, name) for name in OF_ONE},
    **{name: getattr(F, name) for name in BENT},
    "hard_swish": F.hardswish,
    "tanh_shrink": F.tanhshrink,
    "is_nan": torch.isnan,
    "is_infinite": torch.isinf,
    "is_finite": torch.isfinite,
    "log_softmax": lambda x: F.log_softmax(x, -1),
    "shape": lambda x: torch.tensor(x.shape),
}
BETWEEN = {
    **{name: getattr(torch, name) for name in OF_TWO},
    "less_than": torch.lt,
    "greater_than": torch.gt,
    "equal": torch.eq,
    "differs": torch.ne,
    "joint_mul": torch.matmul,
    "elementwise_max": torch.maximum,
    "elementwise_min": torch.minimum,
    "elementwise_mod": torch.remainder,
    "elementwise_floordiv": torch.floor_divide,
    "scale_by": torch.mul,
}

LATER: dict[str, Twin] = {
    **{name: of_x(function) for name, function in PLAIN.items()},
    **{name: of_two(function) for name, function in BETWEEN.items()},
    "matmul": multiplied,
    "standardize": lambda s, a: F.layer_norm(
        s["X"][0], s["X"][0].shape[a["begin_norm_axis"] :], eps=a["epsilon"]
    ),
    "reduce_max": of_x(torch.amax, "dim", "keep_dim"),
    "reduce_min": of_x(torch.amin, "dim", "keep_dim"),
    "reduce_prod": of_x(product, "dim", "keep_dim"),
    "cumsum": of_x(added_up, "axis", "exclusive", "reverse"),
    "reshape_by": reshaped_by,
    "squeeze": of_x(lambda x, axes: x.squeeze(axes) if axes else x.squeeze(), "axes"),
    "unsqueeze": of_x(unsqueezed, "axes"),
    "flatten": of_x(lambda x, start, stop: x.reshape(*x.shape[:start], -1, *x.shape[stop:]), "start", "stop"),
    "assign_value": lambda slots, attrs: torch.tensor(attrs["values"]).reshape(attrs["shape"]),
    "fill_constant_batch_size_like": filled,
    "multiplex": lambda s, a: torch.stack(s["X"])[s["Ids"][0][:, 0], torch.arange(len(s["X"][0]))],
    "repeat": of_x(torch.repeat_interleave, "times", "axis"),
    "even_offsets": of_two(lambda x, of: torch.arange(len(of) + 1) * (len(x) // len(of)), "Of"),
    "sequence_lengths": lambda slots, attrs: slots["Offsets"][0].diff(),
    "sequence_pad": padded,
    "sequence_unpad": unpadded,
    "sequence_mask": of_two(lambda lengths, places: places < lengths[:, None], "Places"),
    "sequence_scatter": put_in_sequences,
    "pow": of_x(torch.pow, "factor"),
    "clip": of_x(torch.clamp, "min", "max"),
    "leaky_relu": of_x(F.leaky_relu, "alpha"),
    "elu": of_x(F.elu, "alpha"),
    "gelu": of_x(lambda x, bent: F.gelu(x, approximate="tanh" if bent else "none"), "approximate"),
    "swish": of_x(lambda x, beta: F.silu(x * beta) / beta, "beta"),
    "softshrink": of_x(F.softshrink, "lambda"),
    "hard_shrink": of_x(F.hardshrink, "threshold"),
    "thresholded_relu": of_x(lambda x, least: F.threshold(x, least, 0), "threshold"),
    "hard_sigmoid": of_x(lambda x, slope, offset: (x * slope + offset).clamp(0, 1), "slope", "offset"),
    "select": lambda s, a: torch.where(s["Condition"][0].bool(), s["X"][0], s["Y"][0]),
    "arg_max": of_x(torch.argmax, "axis", "keep_dim"),
    "arg_min": of_x(torch.argmin, "axis", "keep_dim"),
    "argsort": of_x(lambda x, axis, falling: torch.sort(x, axis, falling).values, "axis", "descending"),
    "gather": lambda s, a: s["X"][0].index_select(a["axis"], s["Index"][0].reshape(-1)),
    "gather_nd": of_two(lambda x, index: x[tuple(index.T)], "Index"),
    "scatter": put,
    "scatter_nd_add": lambda s, a: s["X"][0].index_put(
        tuple(s["Index"][0].T), s["Updates"][0], accumulate=True
    ),
    "index_sample": of_two(lambda x, index: x.gather(1, index), "Index"),
    "one_hot": of_x(F.one_hot, "depth"),
    "tile": of_x(torch.tile, "times"),
    "expand_as": of_two(lambda x, like: x.expand_as(like) + 0 * like, "Like"),
    "expand": of_x(lambda x, shape: x.expand(shape), "shape"),
    "conv2d_transpose": convolved_back,
    "image_windows": unfolded,
}
