"""Model: a saved program and its values, read once, and computed as often as one likes.

It must never know who asks. Guarantee: what computes it changes nothing of it, so that several may, each by
an executor of its own, in threads, too; its values are in a scope of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paddle._program.description.program import Program
from paddle._program.errors import BadArgument, MissingFile
from paddle._program.files.inference import MODEL, feeds_of, read_program, targets_of
from paddle._program.files.variables import is_persistable, keep_vars
from paddle._program.running.executor import Executor
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import Scope


@dataclass(frozen=True, eq=False)
class Model:
    """``feeds``, ``targets``: names, in the order in which the model has them."""

    program: Program
    scope: Scope
    feeds: Sequence[str]
    targets: Sequence[str]

    def made_of(self, target: str) -> str:
        """What was asked for where the program was saved: a saved one ends with scales by 1, whose names are
        those of its targets (files/inference.py)."""
        ops = self.program.global_block().ops
        maker = next((op for op in reversed(ops) if target in op.output_arg_names), None)
        is_named = maker is not None and maker.type == "scale" and target.startswith("save_infer_model/")
        return str(maker.input("X")[0]) if maker is not None and is_named else target

    def compute(self, executor: Executor, values: Mapping[str, LoDTensor]) -> list[LoDTensor]:
        """What it makes of the values of its feeds, in the order of its targets."""
        if lacking := [name for name in self.feeds if name not in values]:
            raise BadArgument(
                f"the model computes nothing without {', '.join(map(repr, lacking))}: give each of its "
                f"inputs ({', '.join(self.feeds)}) an array before it is run"
            )
        found: list[Any] = executor.run(
            self.program, dict(values), list(self.targets), scope=self.scope, return_numpy=False
        )
        return found


def read_folder(folder: str) -> Model:
    """The model of a folder: ``__model__``, and a file for each variable."""
    if not Path(folder).is_dir():
        raise MissingFile(f"there is no folder {folder!r} with a model to compute")
    return _read(Path(folder) / MODEL, Path(folder), None)


def read_files(program: str, values: str) -> Model:
    """The model of a program's file and one file of all its values, "" where it has none."""
    path = Path(values)
    return _read(Path(program), path.parent, path.name if values else None)


def read_memory(program: bytes, values: bytes) -> Model:
    """The model of what these two files hold."""
    with TemporaryDirectory(prefix="paddle-") as folder:
        Path(folder, "program").write_bytes(program)
        Path(folder, "values").write_bytes(values)
        return read_files(f"{folder}/program", f"{folder}/values")


def _read(path: Path, folder: Path, filename: str | None) -> Model:
    program, scope = read_program(path), Scope()
    keep_vars(
        scope, folder, program, [each for each in program.list_vars() if is_persistable(each)], filename
    )
    return Model(program, scope, feeds_of(program), [each.name for each in targets_of(program)])
