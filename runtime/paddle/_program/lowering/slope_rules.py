"""How gradients of the engine's operators are written with operators like any others (derivatives.py).

Each rule appends the gradients of what an operator reads, from that of what it gives. It must never know a
pass. Guarantee: what a rule appends has rules itself, so gradients can be taken of it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from paddle._engine.builder import Builder
from paddle._engine.errors import NotDifferentiable
from paddle._engine.ops.around import SAME, Paddings, around
from paddle._engine.program import Operator, Variable

Slopes: TypeAlias = Mapping[str, "Variable | Sequence[Variable | None]"]
Rule: TypeAlias = "Callable[[At, Variable], Slopes]"


@dataclass(frozen=True, slots=True)
class At:
    """An operator whose gradient is written. ``wants``: the input slots that one is wanted of."""

    builder: Builder
    operator: Operator
    wants: frozenset[str]

    def __getitem__(self, slot: str) -> Variable:
        return self.all(slot)[0]

    def all(self, slot: str) -> list[Variable]:
        """The variables in a slot, of inputs or outputs."""
        names = self.operator.inputs.get(slot) or self.operator.outputs[slot]
        return [self.builder.program.main.variables[name] for name in names]

    def attr(self, name: str) -> Any:
        """The value of an attribute."""
        return self.operator.attrs[name]

    def op(self, type: str, /, attrs: Mapping[str, Any] | None = None, **inputs: Any) -> Variable:
        """Append an operator."""
        return self.builder.op(type, attrs, **inputs)

    def times(self, x: Variable, y: Variable) -> Variable:
        """The product, element by element."""
        return self.op("elementwise_mul", X=x, Y=y)

    def scaled(self, x: Variable, scale: float, bias: float = 0.0) -> Variable:
        """scale * x + bias."""
        return self.op("scale", {"scale": float(scale), "bias": float(bias)}, X=x)

    def where(self, comparison: str, x: Variable, value: float) -> Variable:
        """1 where ``x`` is so beside a number, and 0 elsewhere: nothing goes back through it."""
        number = self.op("fill_constant", {"shape": (1,), "value": float(value)})
        return self.op("cast", {"dtype": "float32"}, X=self.op(comparison, X=x, Y=number))

    def ones(self, like: Variable) -> Variable:
        """1 everywhere."""
        return self.op("fill_any_like", {"value": 1.0}, X=like)

    def fitted(self, slope: Variable, like: Variable) -> Variable:
        """Summed over the axes along which ``like`` was broadcast."""
        more = len(slope.shape) - len(like.shape)
        if more > 0:
            slope = self.op("reduce_sum", {"dim": tuple(range(more)), "keep_dim": False}, X=slope)
        pairs = enumerate(zip(slope.shape, like.shape, strict=True))
        axes = tuple(axis for axis, (size, own) in pairs if own == 1 and size != 1)
        return self.op("reduce_sum", {"dim": axes, "keep_dim": True}, X=slope) if axes else slope

    def refuse(self, slot: str) -> None:
        """Raise where a gradient is wanted of a slot."""
        if slot in self.wants:
            raise NotDifferentiable(
                f"gradients of gradients by {slot} of operator {self.operator.type!r} are not in this release"
            )


def _of_x(slope: Callable[[At], Variable]) -> Rule:
    """An operator element by element whose derivative ``slope`` appends."""
    return lambda at, given: {"X": at.times(given, slope(at))}


def _add(at: At, given: Variable) -> Slopes:
    return {slot: at.fitted(given, at[slot]) for slot in at.wants}


def _sub(at: At, given: Variable) -> Slopes:
    made = {"X": given, "Y": at.scaled(given, -1.0) if "Y" in at.wants else given}
    return {slot: at.fitted(made[slot], at[slot]) for slot in at.wants}


def _mul(at: At, given: Variable) -> Slopes:
    return {slot: at.fitted(at.times(given, at["Y" if slot == "X" else "X"]), at[slot]) for slot in at.wants}


def _div(at: At, given: Variable) -> Slopes:
    by_y = at.op("elementwise_div", X=given, Y=at["Y"])
    made = {"X": by_y}
    if "Y" in at.wants:
        made["Y"] = at.scaled(at.times(by_y, at["Out"]), -1.0)
    return {slot: at.fitted(made[slot], at[slot]) for slot in at.wants}


def _greater(comparison: str) -> Rule:
    """Of the greater or lesser of two; of equals all goes to Y."""

    def rule(at: At, given: Variable) -> Slopes:
        first = at.op("cast", {"dtype": "float32"}, X=at.op(comparison, X=at["X"], Y=at["Y"]))
        made = {"X": at.times(given, first), "Y": at.times(given, at.scaled(first, -1.0, 1.0))}
        return {slot: at.fitted(made[slot], at[slot]) for slot in at.wants}

    return rule


def _product(at: At, given: Variable) -> Slopes:
    """Of matrices, or of matrices side by side."""
    x, y, attrs = at["X"], at["Y"], at.operator.attrs
    if len(x.shape) < 2 or len(y.shape) < 2:
        raise NotDifferentiable("gradients of gradients of a product with a vector are not in this release")
    across_x, across_y = bool(attrs.get("transpose_X")), bool(attrs.get("transpose_Y"))
    alpha = float(attrs.get("alpha", 1.0))

    def product(a: Variable, b: Variable, across_a: bool, across_b: bool) -> Variable:
        return at.op("matmul", {"transpose_X": across_a, "transpose_Y": across_b, "alpha": alpha}, X=a, Y=b)

    made: dict[str, Variable] = {}
    if "X" in at.wants:
        made["X"] = product(y, given, across_y, True) if across_x else product(given, y, False, not across_y)
    if "Y" in at.wants:
        made["Y"] = product(given, x, True, across_x) if across_y else product(x, given, not across_x, False)
    return {slot: at.fitted(slope, at[slot]) for slot, slope in made.items()}


def _sum(at: At, given: Variable) -> Slopes:
    return {"X": [given for _ in at.all("X")]}


def _scale(at: At, given: Variable) -> Slopes:
    return {"X": at.scaled(given, at.attr("scale"))}


def _reduced(is_mean: bool) -> Rule:
    def rule(at: At, given: Variable) -> Slopes:
        x, attrs = at["X"], at.operator.attrs
        dim, keep = attrs.get("dim"), bool(attrs.get("keep_dim"))
        axes = sorted({axis % len(x.shape) for axis in ((dim,) if isinstance(dim, int) else dim or ())})
        ones = at.ones(x)
        if is_mean:
            count = at.op("reduce_sum", {"dim": dim, "keep_dim": keep}, X=ones)
            given = at.op("elementwise_div", X=given, Y=count)
        if axes and len(axes) < len(x.shape) and not keep:
            given = at.op("unsqueeze", {"axes": tuple(axes)}, X=given)
        return {"X": at.times(ones, given)}

    return rule


def _shaped(at: At, given: Variable) -> Slopes:
    """The same elements in another shape."""
    x = at["X"]
    if sum(size < 0 for size in x.shape) > 1:
        raise NotDifferentiable(
            f"gradients of gradients of {at.operator.type!r} of an array with several open sizes are not in "
            "this release"
        )
    return {"X": at.op("reshape", {"shape": x.shape}, X=given)}


def _transposed(at: At, given: Variable) -> Slopes:
    axes = at.attr("axis")
    return {"X": at.op("transpose", {"axis": tuple(sorted(range(len(axes)), key=axes.__getitem__))}, X=given)}


def _broadcast(at: At, given: Variable) -> Slopes:
    return {"X": at.fitted(given, at["X"])}


def _joined(at: At, given: Variable) -> Slopes:
    axis, begin = at.attr("axis") % len(given.shape), 0
    parts: list[Variable | None] = []
    for each in at.all("X"):
        size = each.shape[axis]
        if size < 0:
            raise NotDifferentiable(
                "gradients of gradients of 'concat' along an axis of open size are not in this release"
            )
        cut = {"axes": (axis,), "starts": (begin,), "ends": (begin + size,)}
        parts.append(at.op("slice", cut, X=given))
        begin += size
    return {"X": parts}


def _cut(at: At, given: Variable) -> Slopes:
    x, before, behind = at["X"], [0] * len(at["X"].shape), [0] * len(at["X"].shape)
    for axis, start, end in zip(at.attr("axes"), at.attr("starts"), at.attr("ends"), strict=True):
        if x.shape[axis] < 0 or any(step != 1 for step in at.attr("steps")):
            raise NotDifferentiable(
                "gradients of gradients of 'slice' along an axis of open size, or by steps, are not in this "
                "release"
            )
        begin, stop, _ = slice(start, end).indices(x.shape[axis])
        before[axis], behind[axis] = begin, x.shape[axis] - stop
    return {"X": at.op("pad", {"paddings": tuple(zip(before, behind, strict=True))}, X=given)}


def _padded(at: At, given: Variable) -> Slopes:
    sizes, pads, mode = at["X"].shape, at.attr("paddings"), at.attr("mode")
    if mode != "constant":
        raise NotDifferentiable(f"gradients of gradients of 'pad' in mode {mode!r} are not in this release")
    axes = tuple(axis for axis, pair in enumerate(pads) if any(pair))
    if any(sizes[axis] < 0 for axis in axes):
        raise NotDifferentiable(
            "gradients of gradients of 'pad' along an axis of open size are not in this release"
        )
    starts = tuple(pads[axis][0] for axis in axes)
    ends = tuple(pads[axis][0] + sizes[axis] for axis in axes)
    return {"X": at.op("slice", {"axes": axes, "starts": starts, "ends": ends}, X=given) if axes else given}


def _softmax(at: At, given: Variable) -> Slopes:
    out = at["Out"]
    share = at.op("reduce_sum", {"dim": -1, "keep_dim": True}, X=at.times(given, out))
    return {"X": at.times(at.op("elementwise_sub", X=given, Y=share), out)}


def _log_softmax(at: At, given: Variable) -> Slopes:
    total = at.op("reduce_sum", {"dim": -1, "keep_dim": True}, X=given)
    share = at.times(total, at.op("exp", X=at["Out"]))
    return {"X": at.op("elementwise_sub", X=given, Y=share)}


def _standardize(at: At, given: Variable) -> Slopes:
    x = at["X"]
    axes = tuple(range(at.attr("begin_norm_axis"), len(x.shape)))

    def mean(of: Variable) -> Variable:
        return at.op("reduce_mean", {"dim": axes, "keep_dim": True}, X=of)

    apart = at.op("elementwise_sub", X=x, Y=mean(x))
    variance = mean(at.op("square", X=apart))
    inverse = at.op("rsqrt", X=at.scaled(variance, 1.0, at.attr("epsilon")))
    even = at.times(apart, inverse)
    along = at.times(even, mean(at.times(given, even)))
    rest = at.op("elementwise_sub", X=at.op("elementwise_sub", X=given, Y=mean(given)), Y=along)
    return {"X": at.times(rest, inverse)}


def _in_numbers(at: At, told: Paddings) -> Paddings:
    """Paddings that are found by the size of an image, of this one."""
    if told != SAME:
        return told
    sizes = at["X"].shape[2:]
    if -1 in sizes:
        raise NotDifferentiable(
            f"gradients of gradients of {at.operator.type!r} with padding 'SAME' need images whose sizes are "
            f"declared, not {list(sizes)}: declare them, or tell paddings in numbers"
        )
    down, across = around(sizes, at["Filter"].shape[2:], at.attr("strides"), told)
    return (*down, *across)


def _convolved(at: At, given: Variable) -> Slopes:
    """Back through a convolution goes its transpose, with the same filters."""
    at.refuse("Filter")
    told = {name: at.attr(name) for name in ("strides", "paddings", "dilations", "groups")}
    told["paddings"] = _in_numbers(at, told["paddings"])
    if at.operator.type == "conv2d_transpose":
        return {"X": at.op("conv2d", told, X=given, Filter=at["Filter"])}
    size = tuple(at["X"].shape[2:])
    return {"X": at.op("conv2d_transpose", {**told, "output_size": size}, X=given, Filter=at["Filter"])}


def _dropped(at: At, given: Variable) -> Slopes:
    return {"X": at.times(given, at["Mask"])}


def _selected(at: At, given: Variable) -> Slopes:
    zeros = at.op("fill_any_like", {"value": 0.0}, X=given)
    sides = {"X": (given, zeros), "Y": (zeros, given)}
    return {
        slot: at.fitted(at.op("select", Condition=at["Condition"], X=yes, Y=no), at[slot])
        for slot, (yes, no) in sides.items()
        if slot in at.wants
    }


def _leaky(at: At) -> Variable:
    alpha = float(at.attr("alpha"))
    return at.scaled(at.where("greater_than", at["X"], 0.0), 1.0 - alpha, alpha)


def _within(at: At) -> Variable:
    above = at.where("greater_than", at["X"], at.attr("min"))
    return at.times(above, at.where("less_than", at["X"], at.attr("max")))


def _pow(at: At) -> Variable:
    factor = float(at.attr("factor"))
    return at.scaled(at.op("pow", {"factor": factor - 1.0}, X=at["X"]), factor)


def _elu(at: At) -> Variable:
    """1 above 0, below it alpha * exp(x)."""
    alpha, above = float(at.attr("alpha")), at.where("greater_than", at["X"], 0.0)
    below = at.op("exp", X=at.times(at["X"], at.scaled(above, -1.0, 1.0)))
    return at.op("elementwise_add", X=above, Y=at.times(at.scaled(below, alpha), at.scaled(above, -1.0, 1.0)))


def _sigmoid(at: At) -> Variable:
    out = at["Out"]
    return at.times(out, at.scaled(out, -1.0, 1.0))


def _gelu(at: At) -> Variable:
    if at.attr("approximate"):
        raise NotDifferentiable("gradients of gradients of 'gelu(approximate=True)' are not in this release")
    x = at["X"]
    below = at.scaled(at.op("erf", X=at.scaled(x, math.sqrt(0.5))), 0.5, 0.5)
    density = at.scaled(at.op("exp", X=at.scaled(at.op("square", X=x), -0.5)), 1 / math.sqrt(2 * math.pi))
    return at.op("elementwise_add", X=below, Y=at.times(x, density))


def _swish(at: At) -> Variable:
    """s + beta * x * s * (1 - s), with s the sigmoid of beta * x."""
    beta, x = float(at.attr("beta")), at["X"]
    s = at.op("sigmoid", X=at.scaled(x, beta))
    bend = at.times(at.scaled(x, beta), at.times(s, at.scaled(s, -1.0, 1.0)))
    return at.op("elementwise_add", X=s, Y=bend)


RULES: Mapping[str, Rule] = {
    "elementwise_add": _add,
    "elementwise_sub": _sub,
    "elementwise_mul": _mul,
    "elementwise_div": _div,
    "elementwise_max": _greater("greater_than"),
    "elementwise_min": _greater("less_than"),
    "mul": _product,
    "matmul": _product,
    "sum": _sum,
    "scale": _scale,
    "mean": _reduced(is_mean=True),
    "reduce_mean": _reduced(is_mean=True),
    "reduce_sum": _reduced(is_mean=False),
    **dict.fromkeys(("reshape", "reshape_by", "squeeze", "unsqueeze", "flatten"), _shaped),
    "transpose": _transposed,
    **dict.fromkeys(("expand", "expand_as"), _broadcast),
    "concat": _joined,
    "slice": _cut,
    "pad": _padded,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "standardize": _standardize,
    **dict.fromkeys(("conv2d", "conv2d_transpose"), _convolved),
    "dropout": _dropped,
    "select": _selected,
    "relu": _of_x(lambda at: at.where("greater_than", at["X"], 0.0)),
    "leaky_relu": _of_x(_leaky),
    "elu": _of_x(_elu),
    "clip": _of_x(_within),
    "tanh": _of_x(lambda at: at.scaled(at.op("square", X=at["Out"]), -1.0, 1.0)),
    "sigmoid": _of_x(_sigmoid),
    "logsigmoid": _of_x(lambda at: at.op("sigmoid", X=at.scaled(at["X"], -1.0))),
    "softplus": _of_x(lambda at: at.op("sigmoid", X=at["X"])),
    "gelu": _of_x(_gelu),
    "swish": _of_x(_swish),
    "exp": _of_x(lambda at: at["Out"]),
    "log": _of_x(lambda at: at.op("reciprocal", X=at["X"])),
    "sqrt": _of_x(lambda at: at.scaled(at.op("reciprocal", X=at["Out"]), 0.5)),
    "rsqrt": _of_x(lambda at: at.scaled(at.op("pow", {"factor": -1.5}, X=at["X"]), -0.5)),
    "square": _of_x(lambda at: at.scaled(at["X"], 2.0)),
    "reciprocal": _of_x(lambda at: at.scaled(at.op("square", X=at["Out"]), -1.0)),
    "abs": _of_x(lambda at: at.op("sign", X=at["X"])),
    "pow": _of_x(_pow),
    "sin": _of_x(lambda at: at.op("cos", X=at["X"])),
    "cos": _of_x(lambda at: at.scaled(at.op("sin", X=at["X"]), -1.0)),
}
"""How the gradient of an operator is written, by its type: from the gradient of what it gives."""
