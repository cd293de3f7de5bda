"""The layers that most networks are made of: ``paddle.nn.Linear``, ``Embedding``, ``Dropout`` and others.

They must never compute: ``forward`` calls the function of the same meaning. Guarantee: parameters are made
once, with the layer, and shared by all its calls.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import numpy_dtype
from paddle.nn import functional
from paddle.nn.layer.activation import layer_of
from paddle.nn.layer.layers import Layer

__all__ = [
    *("Bilinear", "CosineSimilarity", "Dropout", "Dropout2D", "Embedding", "Flatten", "Identity", "Linear"),
    *(
        "Pad1D",
        "Pad2D",
        "Pad3D",
        "Unflatten",
        "Upsample",
        "UpsamplingBilinear2D",
        "UpsamplingNearest2D",
        "ZeroPad2D",
    ),
]


class Linear(Layer):
    """x @ weight + bias; ``weight`` is (in_features, out_features). ``bias_attr`` False: no bias."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._sizes = (in_features, out_features)
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        """Append x @ weight + bias."""
        return functional.linear(input, self.weight, self.bias, name=self.name)

    def extra_repr(self) -> str:
        """Its sizes."""
        kind = numpy_dtype(self.weight.dtype).name
        name = f", name={self.name}" if self.name else ""
        return f"in_features={self._sizes[0]}, out_features={self._sizes[1]}, dtype={kind}{name}"


class Embedding(Layer):
    """The rows of a table that ids name; ``weight`` is (num_embeddings, embedding_dim).

    ``sparse``: gradients list rows, and only these are moved and travel.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(f"an Embedding has sizes above 0, not {num_embeddings} and {embedding_dim}")
        self._num_embeddings = num_embeddings
        self._embedding_dim = embedding_dim
        self._sparse, self._said = sparse, padding_idx
        self._padding_idx = functional.input.padding_of(padding_idx, num_embeddings)
        self._name = name
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr)

    def forward(self, x: Any) -> Any:
        """Append the look-up."""
        padding = None if self._padding_idx < 0 else self._padding_idx
        return functional.embedding(x, self.weight, padding, self._sparse, self._name)

    def extra_repr(self) -> str:
        """Its sizes."""
        padding = "" if self._said is None else f"padding_idx={self._said}, "
        return f"{self._num_embeddings}, {self._embedding_dim}, {padding}sparse={self._sparse}"


class Dropout(Layer):
    """See ``functional.dropout``."""

    def __init__(
        self, p: float = 0.5, axis: Any = None, mode: str = "upscale_in_train", name: str | None = None
    ) -> None:
        super().__init__()
        self.p = p
        self.axis = axis
        self.mode = mode
        self.name = name

    def forward(self, input: Any) -> Any:
        """Append the dropping."""
        return functional.dropout(input, self.p, self.axis, self.training, self.mode, self.name)

    def extra_repr(self) -> str:
        """How it drops."""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}"


class Dropout2D(Layer):
    """Whole channels dropped."""

    _shown = "p={0.p}, data_format={0._data_format}"

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.p = p
        self._data_format = data_format

    def forward(self, input: Any) -> Any:
        """Append the dropping."""
        return functional.dropout2d(input, self.p, self.training, self._data_format)


class Flatten(Layer):
    """The axes from ``start_axis`` to ``stop_axis`` as one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis = start_axis
        self.stop_axis = stop_axis

    def forward(self, input: Any) -> Any:
        """Append the change of shape."""
        from paddle.tensor.manipulation import flatten

        return flatten(input, self.start_axis, self.stop_axis)


class Identity(Layer):
    """Its input."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """Gives ``input``."""
        return input


class CosineSimilarity(Layer):
    """See ``functional.cosine_similarity``."""

    _shown = "axis={0._axis}, eps={0._eps}"

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self._axis = axis
        self._eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """Append the cosine."""
        return functional.cosine_similarity(x1, x2, self._axis, self._eps)


class _Pad(Layer):
    _ends = 1
    _shown = "padding={0._pad}, mode={0._mode}, value={0._value}, data_format={0._told}"

    def __init__(
        self,
        padding: Any,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._pad = [padding] * (2 * self._ends) if isinstance(padding, int) else list(padding)
        self._mode = mode
        self._value = value
        self._data_format = data_format or "NCHW"
        self._told = data_format or ("NCL", "NCHW", "NCDHW")[self._ends - 1]

    def forward(self, x: Any) -> Any:
        """Append the padding."""
        return functional.pad(x, self._pad, self._mode, self._value, self._data_format)


class Pad1D(_Pad):
    """``x`` with more around its last axis."""


class Pad2D(_Pad):
    """``x`` with more around its last two axes."""

    _ends = 2


class Pad3D(_Pad):
    """``x`` with more around its last three axes."""

    _ends = 3


_SIZES = ("size", "scale_factor", "mode", "align_corners", "align_mode", "data_format")


class Upsample(layer_of("Upsample", "upsample", *_SIZES, module=__name__)):  # type: ignore[misc]
    """``paddle.nn.functional.upsample`` as a layer."""

    def extra_repr(self) -> str:
        """All that it is told: a size or a factor."""
        return super().extra_repr().replace("size=None, ", "").replace("scale_factor=None, ", "")


class UpsamplingNearest2D(Layer):
    """See ``functional.upsample`` in mode "nearest"."""

    _mode, _corners = "nearest", False

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._size, self._factor, self._format = size, scale_factor, data_format

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.upsample(
            x, self._size, self._factor, self._mode, self._corners, data_format=self._format
        )

    def extra_repr(self) -> str:
        """How much larger it makes images."""
        how = f"size={self._size}" if self._factor is None else f"scale_factor={self._factor}"
        return f"{how}, data_format={self._format}"


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """See ``functional.upsample`` in mode "bilinear", the corners in their places."""

    _mode, _corners = "bilinear", True


class ZeroPad2D(Layer):
    """See ``functional.zeropad2d``."""

    _shown = "padding={0._pad}, data_format={0._format}"

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._pad = [padding] * 4 if isinstance(padding, int) else list(padding)
        self._format = data_format

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.zeropad2d(x, self._pad, self._format)


class Unflatten(Layer):
    """An axis as several; see ``paddle.unflatten``."""

    _shown = "axis={0._axis}, shape={0._shape}"

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._shape = axis, shape

    def forward(self, x: Any) -> Any:
        """Append the function."""
        from paddle.tensor.placing import unflatten

        return unflatten(x, self._axis, self._shape)


class Bilinear(Layer):
    """x1 @ weight[i] @ x2 + bias for each i of ``out_features``; weight and bias are learned."""

    _shown = (
        "in1_features={0._sizes[0]}, in2_features={0._sizes[1]}, out_features={0._sizes[2]}, dtype=float32"
    )

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._sizes = (in1_features, in2_features, out_features)
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """Append the products."""
        return functional.bilinear(x1, x2, self.weight, self.bias)
