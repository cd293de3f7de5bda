"""Checkpoints of 0.14: numbered folders, of which the youngest whole one counts.

``checkpoint_N/__model__`` has what outlives a run, ``checkpoint_N/trainer_K`` a file for each number that
trainer K wants to know again; an empty file ``_SUCCESS`` in each of these says that all of it is there.
Trainers of one job are in step: they write to one folder, give a checkpoint one number, and what trainer 0
wanted to know holds for all.

It must never know a training loop. Guarantee: what ends a program while it writes leaves the checkpoint
before in force; number 0 is one like any other.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from paddle._program.description.program import Program
from paddle._program.errors import BadArgument, BadFile, MissingFile, check_known
from paddle._program.files.variables import is_checkpoint_variable, load_vars, save_vars
from paddle._program.files.whole import write_whole

DONE = "_SUCCESS"
MODEL = "__model__"
_PREFIX, _TRAINER = "checkpoint_", "trainer_"


def save_checkpoint(
    executor: Any,
    checkpoint_dir: str,
    trainer_id: int = 0,
    main_program: Any = None,
    trainer_args: Mapping[str, Any] | None = None,
    max_num_checkpoints: int = 3,
    lookup_table: Any = None,
    ps_endpoint_list: Any = None,
    serial: int | None = None,
) -> None:
    """Write checkpoint ``serial``, by default the next one: this trainer's numbers and, by trainer 0, the
    values; it drops old ones, too."""
    if checkpoint_dir is None:
        raise BadArgument("save_checkpoint: checkpoint_dir is the folder of all checkpoints, and not None")
    if trainer_args is not None and not isinstance(trainer_args, Mapping):
        raise BadArgument(f"save_checkpoint: trainer_args are a dict, and not {trainer_args!r}")
    if serial is None:
        serial = get_latest_checkpoint_serial(checkpoint_dir) + 1
    folder = folder_of(checkpoint_dir, serial)
    if trainer_id == 0:
        (folder / MODEL / DONE).unlink(missing_ok=True)  # of a job before, which had other numbers
    try:
        _save_numbers(folder / f"{_TRAINER}{trainer_id}", trainer_args or {})
    except FileNotFoundError:  # trainer 0 has removed it, as it does when training has ended well
        if trainer_id == 0:
            raise
    if trainer_id == 0:
        save_persist_vars_without_grad(executor, str(folder), main_program)
        _drop_old(Path(checkpoint_dir), max_num_checkpoints)


def load_checkpoint(
    executor: Any, checkpoint_dir: str, serial: Any = None, main_program: Any = None, **others: Any
) -> None:
    """Read the values of a checkpoint, the youngest by default; where there is none, nothing happens."""
    check_known("load_checkpoint", others, "role_id is_trainer load_trainer_args load_lookup_table")
    if checkpoint_dir is None:
        raise BadArgument("load_checkpoint: checkpoint_dir is the folder of all checkpoints, and not None")
    if isinstance(serial, Program):
        serial, main_program = None, serial
    if serial is None:
        serial = get_latest_checkpoint_serial(checkpoint_dir)
    if serial < 0:
        return
    load_persist_vars_without_grad(executor, str(folder_of(checkpoint_dir, serial)), main_program, True)


def load_trainer_args(
    checkpoint_dir: str, serial: int, trainer_id: int, trainer_args: Iterable[str]
) -> list[str]:
    """The numbers that a trainer saved under these names, as texts, in order."""
    folder = folder_of(checkpoint_dir, serial) / f"{_TRAINER}{trainer_id}"
    try:
        return [(folder / name).read_text().strip() for name in trainer_args]
    except FileNotFoundError as error:
        raise MissingFile(f"checkpoint {serial} has no {error.filename} of trainer {trainer_id}") from None


def clean_checkpoint(checkpoint_dir: str, delete_dir: bool = False) -> None:
    """Remove all checkpoints; ``delete_dir``: the folder as well, where nothing else is in it."""
    if checkpoint_dir is None:
        raise BadArgument("clean_checkpoint: checkpoint_dir is the folder of all checkpoints, and not None")
    root = Path(checkpoint_dir)
    for serial in _serials(root):
        shutil.rmtree(folder_of(root, serial), ignore_errors=True)
    if delete_dir:
        with suppress(OSError):  # it is not empty, or not there
            root.rmdir()


def forget_numbers(checkpoint_dir: str | Path, trainer_id: int) -> None:
    """Remove what this trainer has written, and nothing of another's."""
    root = Path(checkpoint_dir)
    for folder in (folder_of(root, serial) for serial in _serials(root)):
        shutil.rmtree(folder / f"{_TRAINER}{trainer_id}", ignore_errors=True)
        with suppress(OSError):  # others have written to it
            folder.rmdir()


def check_is_shared(checkpoint_dir: str | Path, trainer_id: int) -> None:
    """Raises MissingFile where this trainer has written numbers and trainer 0 nothing: it has another
    folder, and nobody here knows where it goes on."""
    root = Path(checkpoint_dir)
    wrote = {
        id: [serial for serial in _serials(root) if (folder_of(root, serial) / f"{_TRAINER}{id}").is_dir()]
        for id in (0, trainer_id)
    }
    if wrote[trainer_id] and not wrote[0]:
        raise MissingFile(
            f"trainer {trainer_id} has written checkpoint {max(wrote[trainer_id])} in {root}, and trainer 0 "
            "none: checkpoint_dir is one folder, which all trainers share. Give them one (a shared disk), or "
            "copy the folders checkpoint_N of trainer 0 here; to begin anew, remove those that are here"
        )


def get_latest_checkpoint_serial(checkpoint_dir: str | Path) -> int:
    """The number of the youngest checkpoint that is whole, -1 where there is none."""
    root = Path(checkpoint_dir)
    whole = [serial for serial in _serials(root) if (folder_of(root, serial) / MODEL / DONE).is_file()]
    return max(whole, default=-1)


def save_persist_vars_without_grad(executor: Any, dirname: str, program: Any) -> None:
    """Write what outlives a run, without gradients and slices of servers, to a folder ``__model__`` in it."""
    folder = Path(dirname) / MODEL
    (folder / DONE).unlink(missing_ok=True)
    save_vars(executor, str(folder), program, None, is_checkpoint_variable)
    write_whole(folder / DONE, lambda file: None)


def load_persist_vars_without_grad(
    executor: Any, dirname: str, program: Any, has_model_dir: bool = False
) -> None:
    """Read it. ``has_model_dir``: it lies in a folder ``__model__`` of ``dirname``."""
    folder = Path(dirname) / MODEL if has_model_dir else Path(dirname)
    if not folder.is_dir():
        raise MissingFile(f"there is no folder {folder} with the values of a checkpoint")
    load_vars(executor, str(folder), program, None, is_checkpoint_variable)


def folder_of(checkpoint_dir: str | Path, serial: int) -> Path:
    """Where a checkpoint lies."""
    return Path(checkpoint_dir) / f"{_PREFIX}{serial}"


def _save_numbers(folder: Path, numbers: Mapping[str, Any]) -> None:
    for name, value in numbers.items():
        if Path(name).name != name or name == DONE:
            raise BadFile(f"a trainer's number {name!r} is not a name of a file in {folder}")
        write_whole(folder / name, partial(_write_text, f"{value}\n"))
    write_whole(folder / DONE, lambda file: None)


def _write_text(text: str, file: IO[bytes]) -> None:
    file.write(text.encode())


def _serials(root: Path) -> list[int]:
    if not root.is_dir():
        return []
    names = (path.name.removeprefix(_PREFIX) for path in root.glob(f"{_PREFIX}*") if path.is_dir())
    return sorted(int(name) for name in names if name.isdecimal())


def _drop_old(root: Path, most: int) -> None:
    whole = [serial for serial in _serials(root) if (folder_of(root, serial) / MODEL / DONE).is_file()]
    for serial in whole[: -max(most, 1)]:
        shutil.rmtree(folder_of(root, serial), ignore_errors=True)
