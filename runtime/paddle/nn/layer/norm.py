"""Normalization as layers: ``paddle.nn.BatchNorm1D``, ``LayerNorm`` and others.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning. Guarantee:
averages are parameters that nobody trains: no gradient moves them, and ``state_dict`` holds them.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paddle.nn import functional
from paddle.nn.initializer import Constant
from paddle.nn.layer.layers import Layer

__all__ = [
    *("BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "GroupNorm", "InstanceNorm1D"),
    *("InstanceNorm2D", "InstanceNorm3D", "LayerNorm", "SpectralNorm", "SyncBatchNorm"),
]


class _BatchNorm(Layer):
    """See ``functional.batch_norm``."""

    _shown = "num_features={0._num_features}, momentum={0._momentum}, epsilon={0._epsilon}"
    _names: tuple[str | None, str | None] = (None, None)
    """Of the moving mean and the moving variance."""

    _layout = "NCHW"
    """The one that is meant where none is said."""

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._momentum, self._epsilon = num_features, momentum, epsilon
        self._told = self._layout if data_format == "NCHW" else data_format
        self._data_format = "NCHW" if data_format in ("NC", "NCL", "NCDHW") else data_format
        self._use_global_stats = use_global_stats
        shape = [num_features]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter(shape, bias_attr, is_bias=True)
        for each, value, named in zip(("_mean", "_variance"), (0.0, 1.0), self._names, strict=True):
            setattr(self, each, self._average(shape, value, named))

    def extra_repr(self) -> str:
        """Its numbers, and a layout that is not that of images."""
        return super().extra_repr() + (f", data_format={self._told}" if self._told != "NCHW" else "")

    def _average(self, shape: list[int], value: float, name: str | None) -> Any:
        from paddle._program.writing.param_attr import ParamAttr

        attr = ParamAttr(name, trainable=False, do_model_average=True)
        made = self.create_parameter(shape, attr, default_initializer=Constant(value))
        made.stop_gradient = True
        return made

    def forward(self, input: Any) -> Any:
        """Append the normalization."""
        return functional.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._data_format,
            self._use_global_stats,
        )


class BatchNorm1D(_BatchNorm):
    """Of (n, channels) or (n, channels, length)."""

    _layout = "NCL"


class BatchNorm2D(_BatchNorm):
    """Of (n, channels, height, width)."""


class BatchNorm3D(_BatchNorm):
    """Of (n, channels, depth, height, width)."""

    _layout = "NCDHW"


class SyncBatchNorm(_BatchNorm):
    """``BatchNorm2D``: a trainer normalizes by its own batch."""


class BatchNorm(_BatchNorm):
    """The older name, with an activation."""

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: Any = None,
        bias_attr: Any = None,
        dtype: str = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        always = True if use_global_stats else None
        self._names = moving_mean_name, moving_variance_name
        super().__init__(num_channels, momentum, epsilon, param_attr, bias_attr, data_layout, always)
        self._act = act
        self.training = not is_test

    def extra_repr(self) -> str:
        """Nothing."""
        return ""

    def forward(self, input: Any) -> Any:
        """Append the normalization, and the activation."""
        found = super().forward(input)
        return getattr(functional, self._act)(found) if self._act else found


class LayerNorm(Layer):
    """See ``functional.layer_norm``."""

    _shown = "normalized_shape={0._normalized_shape}, epsilon={0._epsilon}"

    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        length = 1
        for size in sizes:
            length *= size
        self._normalized_shape = sizes
        self._epsilon = epsilon
        self.weight = self.create_parameter([length], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([length], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """Append the normalization."""
        given = (self._normalized_shape, self.weight, self.bias, self._epsilon)
        return functional.layer_norm(input, *given)


class GroupNorm(Layer):
    """See ``functional.group_norm``."""

    _shown = "num_groups={0._given[0]}, num_channels={0._channels}, epsilon={0._given[1]}"

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._given, self._channels = (num_groups, epsilon), num_channels
        self._data_format = data_format
        self.weight = self.create_parameter([num_channels], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """Append the normalization."""
        given = *self._given, self.weight, self.bias, self._data_format
        return functional.group_norm(input, *given, name=self.full_name())


class _InstanceNorm(Layer):
    """See ``functional.instance_norm``."""

    _shown = "num_features={0._num_features}, epsilon={0._epsilon}"

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-05,
        momentum: float = 0.9,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_features, self._epsilon = num_features, epsilon
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """Append the normalization."""
        return functional.instance_norm(input, weight=self.scale, bias=self.bias, eps=self._epsilon)


class InstanceNorm1D(_InstanceNorm):
    """Of (n, channels, length)."""


class InstanceNorm2D(_InstanceNorm):
    """Of (n, channels, height, width)."""


class InstanceNorm3D(_InstanceNorm):
    """Of (n, channels, depth, height, width)."""


class SpectralNorm(Layer):
    """A weight of ``weight_shape`` over its largest singular value, as a matrix with ``dim`` first, which
    ``power_iters`` steps in each call come near."""

    def __init__(
        self,
        weight_shape: Any,
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: str = "float32",
    ) -> None:
        super().__init__()
        from paddle.nn.initializer import Normal

        self._told = (dim, power_iters, eps)
        sizes = (weight_shape[dim], prod(weight_shape) // weight_shape[dim])
        for name, size in zip(("weight_u", "weight_v"), sizes, strict=True):
            drawn = self.create_parameter([size], default_initializer=Normal(0.0, 1.0))
            drawn.stop_gradient, drawn.trainable = True, False
            setattr(self, name, drawn)

    def forward(self, x: Any) -> Any:
        """Append the steps and the quotient."""
        from paddle.nn.utils import iterated

        return iterated(x, self.weight_u, self.weight_v, *self._told)
