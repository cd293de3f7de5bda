"""Fluid's core: what programs touch of the part that upstream wrote in C++.

It must never hold code of its own beyond names. Guarantee: what is asked about devices is answered truly;
other names of that part are absent by name.
"""

from __future__ import annotations

from enum import IntEnum
from importlib import import_module
from typing import Any

from paddle import _absent
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.framework_proto import ATTR_TYPES
from paddle._program.description.operator import BACKWARD, DIST, FORWARD, LOSS, LR_SCHED, OPTIMIZE, RPC
from paddle._program.description.options import BuildStrategy, ExecutionStrategy
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX
from paddle._program.errors import ProgramError
from paddle._program.running.lod_tensor import LoDTensor, LoDTensorArray
from paddle._program.running.places import (
    CPUPlace,
    CUDAPinnedPlace,
    CUDAPlace,
    NPUPlace,
    Place,
    XPUPlace,
    get_cuda_device_count,
    is_compiled_with_cuda,
)
from paddle._program.running.scope import Scope

Tensor = LoDTensor
ProgramDesc, BlockDesc = Program, Block  # a program is its own description
EnforceNotMet = ProgramError  # what an operator, or a run, is refused with

__all__ = [
    "AttrType",
    "BlockDesc",
    "CPUPlace",
    "CUDAPinnedPlace",
    "CUDAPlace",
    "EnforceNotMet",
    "LoDTensor",
    "LoDTensorArray",
    "NPUPlace",
    "OpRole",
    "ParallelExecutor",
    "Place",
    "ProgramDesc",
    "Scope",
    "Tensor",
    "VarDesc",
    "XPUPlace",
    "empty_var_name",
    "get_cuda_device_count",
    "get_xpu_device_count",
    "grad_var_suffix",
    "is_compiled_with_brpc",
    "is_compiled_with_cuda",
    "is_compiled_with_dist",
    "is_compiled_with_mkldnn",
    "is_compiled_with_npu",
    "is_compiled_with_xpu",
    "kControlDepVarName",
    "kEmptyVarName",
    "kGradVarSuffix",
    "kNewGradSuffix",
    "kTempVarName",
    "kZeroVarSuffix",
    "op_proto_and_checker_maker",
]

kEmptyVarName, kTempVarName, kNewGradSuffix = "@EMPTY@", "@TEMP@", "@NEWGRAD@"  # noqa: N816  upstream's
kGradVarSuffix, kZeroVarSuffix = GRAD_SUFFIX, "@ZERO"  # noqa: N816
kControlDepVarName = "__control_var"  # noqa: N816
AttrType = IntEnum(
    "AttrType",
    {
        {"BOOLEAN": "BOOL", "BOOLEANS": "BOOLS"}.get(name, name): number
        for number, name in ATTR_TYPES.items()
        if number < 12  # what came later is of 2.x
    },
)
"""Which of its fields an attribute of a message is in."""


class VarDesc:
    """Stands for the description of a variable; programs name ``VarDesc.VarType``."""

    VarType = VarType


class ParallelExecutor:
    """Stands for what ran a program on several devices; programs name its strategies."""

    ExecutionStrategy = ExecutionStrategy
    BuildStrategy = BuildStrategy


class OpRole(IntEnum):
    """What an operator is there for."""

    Forward = FORWARD
    Backward = BACKWARD
    Optimize = OPTIMIZE
    RPC = RPC
    Dist = DIST
    LRSched = LR_SCHED
    Loss = LOSS


class op_proto_and_checker_maker:  # noqa: N801  upstream's name
    """What attributes of all operators are called."""

    OpRole = OpRole

    @staticmethod
    def kOpRoleAttrName() -> str:  # noqa: N802
        """Of what an operator is there for."""
        return "op_role"

    @staticmethod
    def kOpRoleVarAttrName() -> str:  # noqa: N802
        """Of the parameters and gradients that it is there for."""
        return "op_role_var"

    @staticmethod
    def kOpNameScopeAttrName() -> str:  # noqa: N802
        """Of the part of a program that it is in (``name_scope``)."""
        return "op_namescope"

    @staticmethod
    def kOpCreationCallstackAttrName() -> str:  # noqa: N802
        """Of the lines that wrote it."""
        return "op_callstack"

    @staticmethod
    def kOpDeviceAttrName() -> str:  # noqa: N802
        """Of where it is computed."""
        return "op_device"


def empty_var_name() -> str:
    """The name of a gradient that nobody needs."""
    return kEmptyVarName


def grad_var_suffix() -> str:
    """What is appended to a variable's name to name its gradient."""
    return GRAD_SUFFIX


def get_xpu_device_count() -> int:
    """None: this release computes on CPUs."""
    return 0


def is_compiled_with_xpu() -> bool:
    """No: this release computes on CPUs."""
    return False


def is_compiled_with_npu() -> bool:
    """No: this release computes on CPUs."""
    return False


def is_compiled_with_mkldnn() -> bool:
    """No: BLAS is numpy's."""
    return False


def is_compiled_with_brpc() -> bool:
    """No: parameters travel in frames of this runtime's own."""
    return False


def is_compiled_with_dist() -> bool:
    """Yes: parameter servers are in it."""
    return True


_PREDICTING = frozenset(
    """
    AnalysisConfig AnalysisPredictor NativeConfig NativePaddlePredictor PaddleBuf PaddleDType PaddlePlace
    PaddlePredictor PaddleTensor ZeroCopyTensor create_paddle_predictor paddle_dtype_size
    """.split()  # noqa: SIM905  read in columns
)
__all__ += _PREDICTING


def __getattr__(name: str) -> Any:
    if name == "EOFException":
        return import_module("paddle._program.reading.end").EOFException
    if name == "RecordIOWriter":
        return import_module("paddle._program.files.records").RecordIOWriter
    if name in _PREDICTING:
        return getattr(import_module("paddle._program.predicting.older"), name)
    if name.startswith("__"):
        raise AttributeError(name)
    raise _absent.AbsentName(
        f"paddle.fluid.core.{name} is not in this release: it is of the part that upstream wrote in C++."
    )
