"""What programs look saved models through with: programs of files, values of single files, what is in them.

It must never write a layout itself (``fluid.io`` does). Guarantee: files are the original's.
"""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from paddle._absent import AbsentName, NotInThisRelease
from paddle._program.description.block import Block
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import program_guard
from paddle._program.description.program import Program
from paddle._program.files.variables import is_persistable
from paddle._program.running.executor import Executor
from paddle.fluid import debugger
from paddle.fluid.layers.io import data

__all__ = [
    "check_pruned_program_vars",
    "graphviz",
    "load_program",
    "parse_program",
    "program_type_trans",
    "save_program",
]

logger = logging.getLogger(__name__)
persistable_vars_out_fn, all_vars_out_fn, ops_out_fn = "vars_persistable.log", "vars_all.log", "ops.log"
not_expected_op_types = ["lookup_table"]
feed_fetch_type_list = [VarType.FEED_MINIBATCH, VarType.FETCH_LIST]
_TEXT = "programs are read from bytes: a text of one, as 1.8 writes it, is for people alone"
_TRIES = frozenset({"check_saved_vars_try_dump", "load_program_text", "try_load_model_vars"})


def load_program(model_filename: str, is_text: bool = False) -> Program:
    """The program of a file, such as ``__model__``."""
    if is_text:
        raise NotInThisRelease(f"load_program({model_filename!r}, is_text=True): {_TEXT}")
    return Program.parse_from_string(Path(model_filename).read_bytes())


load_program_binary = load_program


def save_program(program: Program, model_filename: str = "__model__", is_text: bool = False) -> None:
    """Write a program, as bytes or as text for people."""
    if is_text:
        Path(model_filename).write_text(str(program))
    else:
        Path(model_filename).write_bytes(program.desc.serialize_to_string())


def program_type_trans(prog_dir: str, prog_fn: str, is_text: bool) -> str:
    """Write a program's text beside its bytes; gives the name of that file."""
    program = load_program(str(Path(prog_dir, prog_fn)), is_text)
    save_program(program, str(Path(prog_dir, f"{prog_fn}.pbtxt")), True)
    return f"{prog_fn}.pbtxt"


def check_pruned_program_vars(train_prog: Program, pruned_prog: Program) -> bool:
    """Whether what outlives a run of a pruned program has the sizes and dtypes of the one that is trained."""
    trained = train_prog.global_block().vars
    alike = True
    for each in pruned_prog.list_vars():
        if each.type in feed_fetch_type_list or not is_persistable(each):
            continue
        origin = trained.get(each.name)
        if origin is None:
            logger.error("variable %r is not in the program that is trained: was it pruned well?", each.name)
        elif (each.shape, each.dtype) != (origin.shape, origin.dtype):
            logger.error(
                "variable %r is %s of %s in the pruned program, and %s of %s in the one that is trained",
                *(each.name, each.shape, each.dtype, origin.shape, origin.dtype),
            )
            alike = False
    return alike


def check_not_expected_ops(prog: Program) -> None:
    """Warn of operators that a pruned program of workers seldom has."""
    for type in sorted({op.type for op in prog.global_block().ops} & set(not_expected_op_types)):
        logger.warning("operator %r is in the program: was it pruned well?", type)


def parse_program(program: Program, output_dir: str) -> None:
    """Write what a program has into three files: what outlives a run, all variables, operators."""
    variables = list(program.list_vars())
    lasting = [each for each in variables if is_persistable(each)]
    shown = {
        persistable_vars_out_fn: ("persistable vars:", [_seen(each, with_type=True) for each in lasting]),
        all_vars_out_fn: ("all vars:", [_seen(each) for each in variables]),
        ops_out_fn: (
            "ops:",
            [
                {"type": op.type, "input_arg_names": str(op.input_arg_names)}
                | {"output_arg_names": str(op.output_arg_names)}
                for op in program.global_block().ops
            ],
        ),
    }
    for name, (head, lines) in shown.items():
        Path(output_dir, name).write_text("".join(f"{line}\n" for line in (head, *lines)))


def _seen(variable: Any, *, with_type: bool = False) -> dict[str, Any]:
    if variable.type in feed_fetch_type_list:
        return {"name": variable.name, "type": str(variable.type)}
    told = {"name": variable.name, "shape": str(variable.shape), "lod_level": int(variable.lod_level)}
    return told | {"dtype": str(variable.dtype)} | ({"type": str(variable.type)} if with_type else {})


def graphviz(block: Block, output_dir: str = "", filename: str = "debug") -> None:
    """Draw a block as ``filename.dot`` and, where the machine has ``dot``, as ``filename.pdf``."""
    drawn = Path(output_dir, f"{filename}.dot")
    debugger.draw_block_graphviz(block, path=str(drawn))
    with suppress(FileNotFoundError):
        subprocess.run(["dot", "-Tpdf", str(drawn), "-o", str(drawn.with_suffix(".pdf"))], check=True)


def append_save_op(block: Block, var: Any, path: str) -> None:
    """Have a program write a variable into a file."""
    block.append_op("save", {"X": [var]}, {}, {"file_path": path})


def append_load_op(block: Block, var: Any, path: str) -> None:
    """Have a program read a variable from a file."""
    block.append_op("load", {}, {"Out": [var]}, {"file_path": path})


def save_var(
    np_array: np.ndarray, var_name: str, shape_list: Sequence[int], dtype: Any, save_path: str
) -> None:
    """Write an array into a file, as a variable."""
    program = Program()
    with program_guard(program):
        append_save_op(program.global_block(), data(var_name, shape_list, dtype=dtype), save_path)
    Executor().run(program, feed={var_name: np_array}, fetch_list=[])


def load_var(var_name: str, shape_list: Sequence[int], dtype: Any, save_path: str) -> list[Any]:
    """What a file holds of one variable: a list of one array."""
    program = Program()
    with program_guard(program):
        variable = data(var_name, shape_list, dtype=dtype)
        append_load_op(program.global_block(), variable, save_path)
    return Executor().run(program, feed={}, fetch_list=[variable])


def reader(batch_size: int, fn: str, dim: int | Sequence[int]) -> list[np.ndarray]:
    """Batches of a file of numbers, apart by spaces: of each line as many whole ones as it has."""
    shape = [batch_size, *(dim if isinstance(dim, list | tuple) else [dim])]
    size = int(np.prod(shape))
    found: list[np.ndarray] = []
    for line in Path(fn).read_text().splitlines():
        numbers = np.array([float(each) for each in line.strip().split(" ")])
        whole = len(numbers) // size
        found += [part.reshape(shape) for part in numbers[: whole * size].reshape(whole, size)]
    return found


def feed_gen(
    batch_size: int, feeded_vars_dims: Sequence[Any], feeded_vars_filelist: Sequence[str]
) -> list[list[np.ndarray]]:
    """The batches of each file."""
    return [reader(batch_size, *each) for each in zip(feeded_vars_filelist, feeded_vars_dims, strict=False)]


def __getattr__(name: str) -> Any:
    if name in _TRIES:
        raise AbsentName(
            f"{__name__}.{name} is not in this release: fluid.io.load_inference_model and Executor.run try "
            "a model."
        )
    raise AttributeError(f"{__name__}.{name} does not exist", name=name)
