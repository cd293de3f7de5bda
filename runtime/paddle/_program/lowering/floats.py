"""Which slots of operators take floats alone: operators that the original has for no whole numbers.

One table for all of them; a row of an operator need not look at it. What gives right numbers of whole ones
is not here, though the original may refuse it. It must never know how an operator is computed. Guarantee:
what is refused is so while the program is written, by operator, slot, dtype and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paddle._program.description.dtypes import VarType, is_float
from paddle._program.description.operator import Operator
from paddle._program.errors import BadArgument

Slots = Callable[[Operator], tuple[str, ...]]


def _only(*slots: str) -> Slots:
    return lambda op: slots


def _unless(attr: str, *values: Any) -> Slots:
    """X, where an attribute is none of these."""
    return lambda op: () if op.attr(attr) in values else ("X",)


_OF_X = (
    "bicubic_interp bicubic_interp_v2 bilinear_interp bilinear_interp_v2 cholesky digamma eigh erfinv "
    "grid_sampler hierarchical_sigmoid lgamma linear_interp_v2 logcumsumexp lrn lu p_norm pinv "
    "qr svd trilinear_interp trilinear_interp_v2"
)
_OF_LOWER_X = "i0 i0e i1 i1e polygamma"
FLOATS: Mapping[str, Slots] = {
    **dict.fromkeys(_OF_X.split(), _only("X")),
    **dict.fromkeys(_OF_LOWER_X.split(), _only("x")),
    **dict.fromkeys(("pool2d", "pool3d"), _unless("pooling_type", "max")),
    **dict.fromkeys(("lstsq", "solve", "triangular_solve"), _only("X", "Y")),
    **dict.fromkeys(("determinant", "inverse", "slogdeterminant"), _only("Input")),
    "dropout": _unless("dropout_implementation", "upscale_in_train"),
    "nextafter": _only("x", "y"),
}
_PICTURES = frozenset(
    f"{how}_interp{made}" for how in ("linear", "bilinear", "trilinear") for made in ("", "_v2")
)
"""Those that resize images of bytes, too."""


def refuse_whole_numbers(op: Operator) -> None:
    """Raises BadArgument, a TypeError, where a slot that takes floats alone has something else."""
    for slot in FLOATS[op.type](op) if op.type in FLOATS else ():
        for name in op.inputs.get(slot, ()):
            found = op.block._find_var_recursive(name)
            if found is None or is_float(found.dtype) or _is_picture(op, found.dtype):
                continue
            raise BadArgument(
                f"operator {op.type!r} (written at {op.where}) computes with floats, and {slot}, {name!r}, "
                f"is of {found.dtype.name.lower()}: cast it to float32"
            )


def _is_picture(op: Operator, dtype: VarType) -> bool:
    return op.type in _PICTURES and dtype == VarType.UINT8
