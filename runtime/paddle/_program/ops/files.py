"""Operators that read and write files: ``save``, ``load`` and their kin of one file for several variables.

They must never know a layout (``files`` does). Guarantee: as of the functions there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paddle._program.description.operator import Operator
from paddle._program.errors import BadFile
from paddle._program.files import tensors
from paddle._program.lowering.op_rows import hosts
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor


@hosts("save", file_path="", overwrite=True, save_as_fp16=False)
def _save(host: Host, op: Operator) -> None:
    path = _path(op)
    tensors.save_one(path, _tensor(host.input(op, "X"), op))


@hosts("save_combine", file_path="", overwrite=True, save_as_fp16=False)
def _save_combine(host: Host, op: Operator) -> None:
    tensors.save_several(_path(op), [_tensor(value, op) for value in host.inputs(op, "X")])


@hosts("load", file_path="", load_as_fp16=False)
def _load(host: Host, op: Operator) -> None:
    name = op.output("Out")[0]
    host.give(op, "Out", _value(tensors.load_one(Path(str(op.attr("file_path"))), name)))


@hosts("load_combine", file_path="", load_as_fp16=False)
def _load_combine(host: Host, op: Operator) -> None:
    names = op.output("Out")
    found = tensors.load_several(Path(str(op.attr("file_path"))), dict.fromkeys(names))
    for index, name in enumerate(names):
        host.give(op, "Out", _value(found[name]), index)


def _path(op: Operator) -> Path:
    path = Path(str(op.attr("file_path")))
    if path.exists() and not op.attr("overwrite"):
        raise BadFile(f"operator {op.type!r}: {path} is there already, and overwrite is False")
    return path


def _tensor(value: object, op: Operator) -> LoDTensor:
    tensor = value if isinstance(value, LoDTensor) else LoDTensor(np.asarray(value))
    return LoDTensor(tensor.array().astype(np.float16)) if op.attr("save_as_fp16") else tensor


def _value(tensor: LoDTensor) -> LoDTensor | np.ndarray:
    return tensor if tensor.lod() else np.array(tensor.array())
