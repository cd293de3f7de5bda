"""Clipping of gradients, as operators on them.

It must never know an optimizer. Guarantee: what no attribute asks to be clipped is passed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.guards import default_main_program

Pairs = list[tuple[Any, Any]]


class GradientClipBase:
    """``need_clip``: a function of a parameter, by which only some are clipped. A parameter whose attribute
    says ``need_clip=False`` is not."""

    def __init__(self, need_clip: Any = None) -> None:
        self._need_clip = need_clip

    def __call__(self, params_grads: Pairs) -> Pairs:
        """The pairs, with gradients clipped."""
        chosen = [pair for pair in params_grads if self._clips(*pair)]
        clipped = dict(zip((parameter.name for parameter, _ in chosen), self._clipped(chosen), strict=True))
        return [(parameter, clipped.get(parameter.name, gradient)) for parameter, gradient in params_grads]

    def _clips(self, parameter: Any, gradient: Any) -> bool:
        asked = self._need_clip is None or bool(self._need_clip(parameter))
        return gradient is not None and asked and getattr(parameter, "need_clip", True)

    def _clipped(self, pairs: Pairs) -> Sequence[Any]:
        raise NotImplementedError


class GradientClipByValue(GradientClipBase):
    """Every element between ``min``, by default -``max``, and ``max``."""

    def __init__(self, max: float, min: float | None = None, need_clip: Any = None) -> None:
        super().__init__(need_clip)
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def _clipped(self, pairs: Pairs) -> Sequence[Any]:
        bounds = {"min": self.min, "max": self.max}
        return [_appended(gradient, "clip", {"X": [gradient]}, bounds) for _, gradient in pairs]


class GradientClipByNorm(GradientClipBase):
    """Every gradient in a length of ``clip_norm`` at most."""

    def __init__(self, clip_norm: float, need_clip: Any = None) -> None:
        super().__init__(need_clip)
        self.clip_norm = float(clip_norm)

    def _clipped(self, pairs: Pairs) -> Sequence[Any]:
        bound = {"max_norm": self.clip_norm}
        return [_appended(gradient, "clip_by_norm", {"X": [gradient]}, bound) for _, gradient in pairs]


class GradientClipByGlobalNorm(GradientClipBase):
    """All gradients together in a length of ``clip_norm`` at most."""

    def __init__(
        self,
        clip_norm: float,
        group_name: str = "default_group",
        need_clip: Any = None,
        auto_skip_clip: bool = False,
    ) -> None:
        super().__init__(need_clip)
        self.clip_norm = float(clip_norm)
        self.group_name = group_name

    def _clipped(self, pairs: Pairs) -> Sequence[Any]:
        if not pairs:
            return []
        first = pairs[0][1]
        squares = [
            _appended(gradient, "squared_l2_norm", {"X": [gradient]}, {}, [1]) for _, gradient in pairs
        ]
        total = _appended(first, "sum", {"X": squares}, {}, [1])
        length = _appended(first, "sqrt", {"X": [total]}, {}, [1])
        number = {"shape": [1], "value": self.clip_norm, "dtype": int(first.dtype)}
        bound = _appended(first, "fill_constant", {}, number, [1])
        longest = _appended(first, "elementwise_max", {"X": [length], "Y": [bound]}, {"axis": -1}, [1])
        share = _appended(first, "elementwise_div", {"X": [bound], "Y": [longest]}, {"axis": -1}, [1])
        return [
            _appended(gradient, "elementwise_mul", {"X": [gradient], "Y": [share]}, {"axis": -1})
            for _, gradient in pairs
        ]


class ErrorClipByValue:
    """What comes back through a variable (``error_clip``) is between ``min``, by default -``max``, and
    ``max``.
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        self.max = float(max)
        self.min = -self.max if min is None else float(min)


def set_gradient_clip(clip: Any, param_list: Sequence[Any] | None = None, program: Any = None) -> None:
    """Clip the gradients of these parameters, Parameters or names; of all of the program if None."""
    block = (program or default_main_program()).global_block()
    for each in block.all_parameters() if param_list is None else param_list:
        parameter: Any = block.var(each) if isinstance(each, str) else each
        parameter.gradient_clip_attr = clip


def append_gradient_clip_ops(pairs: Pairs) -> Pairs:
    """The pairs, clipped as the attributes of the parameters say; those of one clip together."""
    order: dict[Any, tuple[Any, Pairs]] = {}
    for pair in pairs:
        clip = getattr(pair[0], "gradient_clip_attr", None)
        group = getattr(clip, "group_name", None) or id(clip)
        order.setdefault(group, (clip, []))[1].append(pair)
    clipped = {
        pair[0].name: pair
        for clip, members in order.values()
        for pair in (members if clip is None else clip(members))
    }
    return [clipped[parameter.name] for parameter, _ in pairs]


def _appended(
    near: Any, type: str, inputs: Mapping[str, Any], attrs: Mapping[str, Any], shape: Any = None
) -> Any:
    name = unique_name.generate(f"{near.name}.{type}")
    sizes = near.shape if shape is None else shape
    made = near.block.create_var(name, dtype=near.dtype, shape=sizes, stop_gradient=True)
    near.block.append_op(type, inputs=inputs, outputs={"Out": [made]}, attrs=attrs)
    return made
