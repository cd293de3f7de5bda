"""What scripts of jobs take from the transpiler: a program as text, and servers that have come.

It must never know what a server does. Guarantee: each name is the very object of its module.
"""

from __future__ import annotations

from typing import NoReturn

from paddle._absent import AbsentName
from paddle.fluid.transpiler.details.checkport import wait_server_ready
from paddle.fluid.transpiler.details.program_utils import (
    delete_ops,
    find_op_by_input_arg,
    find_op_by_output_arg,
    program_to_code,
)

__all__ = [
    "delete_ops",
    "find_op_by_input_arg",
    "find_op_by_output_arg",
    "program_to_code",
    "wait_server_ready",
]

_LATER = frozenset({"UnionFind", "VarBlock", "VarStruct", "VarsDistributed", "ufind", "vars_distributed"})


def __getattr__(name: str) -> NoReturn:
    if name in _LATER:
        raise AbsentName(
            f"{__name__}.{name} is not in this release: it is a part of how upstream transpiles."
        )
    raise AttributeError(f"{__name__}.{name} does not exist", name=name)
