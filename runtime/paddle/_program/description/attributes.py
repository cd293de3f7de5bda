"""Attributes of operators: values of Python, and the messages in which the original keeps them.

What an attribute is follows from its value, but for what Python cannot tell: 2 may be meant as 2.0, and an
empty list as one of anything. There a small table says what the original's operator declares.

They must never know an operator. Guarantee: ``value_of(message_of(op, name, value))`` is the value, floats as
four bytes hold them; a value that no attribute can hold is a TypeError that names operator and attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle._program.description.framework_proto import ATTR_TYPES, AttrProto, ComplexProto, ScalarProto

NUMBERS = {name: number for number, name in ATTR_TYPES.items()}
_FIELDS = {
    **{"INT": "i", "FLOAT": "f", "STRING": "s", "INTS": "ints", "FLOATS": "floats", "STRINGS": "strings"},
    **{"BOOLEAN": "b", "BOOLEANS": "bools", "BLOCK": "block_idx", "LONG": "l", "BLOCKS": "blocks_idx"},
    **{"LONGS": "longs", "FLOAT64S": "float64s", "VAR": "var_name", "VARS": "vars_name"},
    **{"FLOAT64": "float64", "SCALAR": "scalar", "SCALARS": "scalars"},
}
# What the operators of 1.8 declare where a value does not say it: by name, or by operator and name.
_BY_NAME = {
    "FLOAT": """
        Alpha Beta Scale alpha atol average_window beta beta1 beta2 bias cell_clip decay delta dropout_prob
        drop_out_percent eps epsilon eta factor forget_bias gamma l1 l2 lambda lars_coeff lars_weight_decay lr
        lr_power margin max max_norm mean min momentum moving_rate mu neg_dist_threshold nms_threshold p
        porder proj_clip rho rtol scale score_threshold sigma slope soft_max_lower_bound soft_max_up_bound std
        step spatial_scale summary_decay_rate t_max t_min threshold value weight_decay
        """,
    "FLOATS": "fp32_values anchor_sizes aspect_ratios max_sizes min_sizes variances",
    "LONG": "max_average_window min_average_window min_row_size_to_use_multithread mod_by padding_idx seek",
    "LONGS": "height_sections int64_values shifts",
    "STRINGS": """
        backward_skip_vars endpoints epmap ex_states grad_to_block_id op_callstack op_role_var recv_varnames
        remote_varnames send_varnames slice_varnames states table_names varnames
        """,
    "BLOCKS": "optimize_blocks",
}
_BY_OPERATOR = {
    "FLOAT": """
        lrn.k hard_sigmoid.offset hard_swish.offset pad.pad_value pad2d.pad_value sequence_pool.pad_value
        pad_constant_like.pad_value dpsgd.clip
        """,
    "LONG": "arg_max.axis arg_min.axis",
    "LONGS": """
        fill_constant.shape gaussian_random.shape uniform_random.shape randint.shape fake_init.shape
        """,
}
_DECLARED = {
    name: kind
    for table in (_BY_NAME, _BY_OPERATOR)
    for kind, names in table.items()
    for name in names.split()
}
_INT32 = range(-(1 << 31), 1 << 31)


class SubBlock(int):
    """The number of a block, as an attribute says it (``sub_block``)."""


def message_of(op: str, name: str, value: Any, type_number: int | None = None) -> AttrProto:
    """The message of one attribute of operator ``op``. ``type_number``: what it was when it was read."""
    kind = _kind(op, name, value) if type_number is None else ATTR_TYPES[type_number]
    field = _FIELDS[kind]
    plain = _scalars(value) if kind in ("SCALAR", "SCALARS") else _plain(value)
    try:
        return AttrProto(name=name, type=NUMBERS[kind], **{field: plain})
    except (TypeError, ValueError) as error:
        raise TypeError(f"operator {op}: attribute {name} = {value!r} is no {kind}: {error}") from None


def value_of(attribute: AttrProto) -> Any:
    """What a message says, as Python's value; a block's number is a SubBlock."""
    kind = ATTR_TYPES[attribute.type]
    value = getattr(attribute, _FIELDS[kind])
    return _READ.get(kind, lambda same: same)(value)


def _kind(op: str, name: str, value: Any) -> str:
    if isinstance(value, SubBlock):
        return "BLOCK"
    if isinstance(value, bool | np.bool_):
        return "BOOLEAN"
    if isinstance(value, int | np.integer):
        return _whole(op, name, int(value))
    if isinstance(value, float | np.floating):
        return "FLOAT"
    if isinstance(value, str | bytes):
        return "STRING"
    if isinstance(value, list | tuple | np.ndarray | range):
        return _list(op, name, list(value))
    raise TypeError(
        f"operator {op}: attribute {name} = {value!r} is a {type(value).__name__}; attributes are numbers, "
        "texts, blocks and lists of one of these"
    )


def _declared(op: str, name: str) -> str:
    return _DECLARED.get(f"{op}.{name}") or _DECLARED.get(name, "")


def _whole(op: str, name: str, value: int) -> str:
    declared = _declared(op, name)
    if declared in ("FLOAT", "LONG"):
        return declared
    return "INT" if value in _INT32 else "LONG"


def _list(op: str, name: str, values: list[Any]) -> str:
    declared = _declared(op, name)
    kinds = {_kind(op, "", value) for value in values}
    if not kinds:
        return declared if declared.endswith("S") else "INTS"
    if kinds <= {"INT", "LONG"}:
        return declared if declared in ("FLOATS", "LONGS") else "INTS" if kinds == {"INT"} else "LONGS"
    if kinds <= {"INT", "LONG", "FLOAT"}:
        return "FLOATS"
    if len(kinds) == 1:
        return f"{kinds.pop()}S"
    raise TypeError(f"operator {op}: attribute {name} = {values!r} mixes {', '.join(sorted(kinds))}")


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple | range):
        return [_plain(one) for one in value]
    return value


def _scalars(value: Any) -> Any:
    return [_scalar(one) for one in value] if isinstance(value, list | tuple) else _scalar(value)


def _scalar(value: Any) -> ScalarProto:
    if isinstance(value, bool):
        return ScalarProto(type=1, b=value)
    if isinstance(value, int):
        return ScalarProto(type=2, i=value)
    if isinstance(value, complex):
        return ScalarProto(type=4, c=ComplexProto(r=value.real, i=value.imag))
    return ScalarProto(type=3, r=float(value))


def _number(scalar: ScalarProto) -> bool | int | float | complex:
    if scalar.type == 4:
        return complex(scalar.c.r, scalar.c.i)
    found: bool | int | float = {1: scalar.b, 2: scalar.i, 3: scalar.r}[scalar.type]
    return found


def _numbers(scalars: Sequence[ScalarProto]) -> list[Any]:
    return [_number(one) for one in scalars]


_READ: dict[str, Callable[[Any], Any]] = {
    "BLOCK": SubBlock,
    "BLOCKS": lambda numbers: [SubBlock(one) for one in numbers],
    "SCALAR": _number,
    "SCALARS": _numbers,
}
