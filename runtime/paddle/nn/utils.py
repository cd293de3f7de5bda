"""What is done to weights before they are used: ``paddle.nn.utils``.

It must never compute: each function appends operators to the default program. Guarantee: a layer whose weight
is made of others begins with the weight that it had.
"""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn

from paddle._absent import AbsentName
from paddle._program.description.guards import default_startup_program, program_guard
from paddle._program.description.variable import Parameter
from paddle.nn.initializer import Constant, Normal
from paddle.tensor import math
from paddle.tensor.creation import assign
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import concat, reshape, split, transpose

__all__ = [
    *("parameters_to_vector", "remove_weight_norm", "spectral_norm", "vector_to_parameters", "weight_norm"),
]

__path__: list[str] = []  # programs import it by the original's files

_AT_ONCE = {
    "clip_grad_norm_": "an optimizer clips: grad_clip=paddle.nn.ClipGradByGlobalNorm(...)",
    "clip_grad_value_": "an optimizer clips: grad_clip=paddle.nn.ClipGradByValue(...)",
}


def _taken(layer: Any, name: str, kind: str) -> Parameter:
    found = layer._parameters.get(name)
    if found is None:
        raise ValueError(f"{layer.full_name()} has no parameter {name!r} for {kind}: {[*layer._parameters]}")
    del layer._parameters[name]
    return found  # type: ignore[no-any-return]


def _lengths(weight: Any, dim: int) -> Any:
    """The norm of each slice along ``dim``, of all where it is -1."""
    others = None if dim == -1 else [at for at in range(len(weight.shape)) if at != dim]
    return math.sqrt(math.sum(math.square(weight), others, keepdim=dim != -1))


def _scaled(direction: Any, length: Any, dim: int) -> Any:
    sizes = [1] if dim == -1 else [size if at == dim else 1 for at, size in enumerate(direction.shape)]
    own = math.maximum(_lengths(direction, dim), 1e-12)
    return math.multiply(math.divide(direction, own), reshape(length, sizes))


class _WeightNorm:
    def __init__(self, name: str, dim: int) -> None:
        self.name, self.dim = name, dim

    def __call__(self, layer: Any, inputs: Any) -> None:
        parts = (getattr(layer, f"{self.name}{end}") for end in ("_v", "_g"))
        setattr(layer, self.name, _scaled(*parts, self.dim))


def weight_norm(layer: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Make the weight ``name`` of ``layer`` a direction, ``name``_v, times a length, ``name``_g: of each
    slice along ``dim``, or of all where it is None. Both are learned."""
    weight = _taken(layer, name, "weight_norm")
    axis = -1 if dim is None else dim % len(weight.shape)
    length = layer.create_parameter(
        [1 if axis == -1 else weight.shape[axis]], default_initializer=Constant(1.0)
    )
    with program_guard(default_startup_program()):
        block = default_startup_program().global_block()
        assign(reshape(_lengths(block.var(weight.name), axis), [-1]), block.var(length.name))
    layer.add_parameter(f"{name}_v", weight)
    layer.add_parameter(f"{name}_g", length)
    hook = _WeightNorm(name, axis)
    hook(layer, None)
    layer.__dict__.setdefault("_weight_norms", {})[name] = (hook, layer.register_forward_pre_hook(hook))
    return layer


def remove_weight_norm(layer: Any, name: str = "weight") -> Any:
    """From now on the weight is one parameter again, which begins as the direction times the length do."""
    hook, handle = layer.__dict__.get("_weight_norms", {}).pop(name, (None, None))
    if hook is None:
        raise ValueError(f"weight_norm of {name!r} was not found in {layer.full_name()}")
    handle.remove()
    weight, length = (_taken(layer, f"{name}{end}", "weight_norm") for end in ("_v", "_g"))
    layer.__dict__.pop(name, None)
    made = layer.create_parameter(list(weight.shape))
    with program_guard(default_startup_program()):
        block = default_startup_program().global_block()
        parts = [block.var(each.name) for each in (weight, length)]
        assign(_scaled(*parts, hook.dim), block.var(made.name))
    layer.add_parameter(name, made)
    return layer


def iterated(weight: Any, u: Any, v: Any, dim: int, times: int, eps: float) -> Any:
    """The weight over its largest singular value, which ``times`` steps from u and v come near; these are
    moved."""
    order = [dim, *(at for at in range(len(weight.shape)) if at != dim)]
    rows = reshape(transpose(weight, order) if dim else weight, [weight.shape[dim], -1])
    left, right = reshape(u, [1, -1]), reshape(v, [-1, 1])
    still = assign(rows)
    still.stop_gradient = True
    for _ in range(times):
        right = _unit(matmul(still, left, True, True), eps)
        left = reshape(_unit(matmul(still, right), eps), [1, -1])
    for kept, found in ((u, left), (v, right)):
        found.stop_gradient = True
        assign(reshape(found, [-1]), kept)
    sigma = reshape(matmul(matmul(left, rows), right), [1])
    return math.divide(weight, sigma)


def _unit(x: Any, eps: float) -> Any:
    return math.divide(x, math.maximum(math.sqrt(math.sum(math.square(x))), eps))


class _SpectralNorm:
    def __init__(self, name: str, times: int, dim: int, eps: float) -> None:
        self.name, self.times, self.dim, self.eps = name, times, dim, eps

    def __call__(self, layer: Any, inputs: Any) -> None:
        parts = [getattr(layer, f"{self.name}{end}") for end in ("_orig", "_u", "_v")]
        made = iterated(*parts, self.dim, self.times if layer.training else 0, self.eps)
        setattr(layer, self.name, made)


def spectral_norm(
    layer: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide the weight ``name`` of ``layer`` by its largest singular value, as a matrix with ``dim`` first:
    1 of linear layers and transposed convolutions if None, else 0."""
    if n_power_iterations < 1:
        raise ValueError(f"n_power_iterations of spectral_norm is above 0, not {n_power_iterations}")
    weight = _taken(layer, name, "spectral_norm")
    if dim is None:
        dim = 1 if type(layer).__name__ == "Linear" or type(layer).__name__.endswith("Transpose") else 0
    height = weight.shape[dim]
    layer.add_parameter(f"{name}_orig", weight)
    for end, size in (("_u", height), ("_v", prod(weight.shape) // height)):
        drawn = layer.create_parameter([size], default_initializer=Normal(0.0, 1.0))
        drawn.stop_gradient, drawn.trainable = True, False
        layer.register_buffer(f"{name}{end}", drawn)
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    setattr(layer, name, math.scale(weight, 1.0))
    layer.register_forward_pre_hook(hook)
    return layer


def parameters_to_vector(parameters: Any, name: str | None = None) -> Any:
    """All of several parameters, one after another."""
    return concat([reshape(each, [-1]) for each in parameters], 0, name)


def vector_to_parameters(vec: Any, parameters: Any, name: str | None = None) -> None:
    """The elements of ``vec``, one after another, in several parameters."""
    each = list(parameters)
    pieces = split(vec, [prod(one.shape) for one in each], 0)
    for one, piece in zip(each, pieces, strict=True):
        assign(reshape(piece, list(one.shape)), one)


def __getattr__(name: str) -> NoReturn:
    if name in _AT_ONCE:
        raise AbsentName(
            f"paddle.nn.utils.{name} is not in this release: it changes gradients computed at once; "
            f"{_AT_ONCE[name]}."
        )
    raise AttributeError(f"paddle.nn.utils.{name} does not exist", name=name)
