"""Checkpoints of a fleet without parameter servers: all that outlives a run, and which epoch was the last.

Rules:

1.  Each is a folder of its own below the one that is named, numbered as they come.
2.  One is written beside its place and put there whole.

It must never know a program. Guarantee: what is loaded is the youngest that is whole.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._fleet.errors import FleetError
from paddle._fleet.local_files import LocalFS
from paddle._program.files.variables import load_persistables, save_persistables

_NAME, _VALUES, _STATUS = "__paddle_fleet_checkpoint__", "_paddle_fleet_param__", "fleet_train_status"
_DISK = LocalFS()


class TrainStatus:
    """How far a job is: the number of its last whole epoch."""

    def __init__(self, epoch_no: int = -1) -> None:
        self._epoch_no = epoch_no

    def next(self) -> int:
        """The epoch to go on with."""
        return self._epoch_no + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainStatus) and self._epoch_no == other._epoch_no

    __hash__ = None  # type: ignore[assignment]


class Checkpoints:
    """What ``Collective`` derives from."""

    main_program: Any

    def save_check_point(
        self,
        executor: Any,
        path: str,
        train_status: TrainStatus,
        main_program: Any = None,
        fs: Any = None,
        local_cache_path: str = ".cache",
        remain_all_checkpoint: bool = True,
    ) -> None:
        """Write one more (rules 1 and 2). ``remain_all_checkpoint=False`` removes those before it."""
        _check(fs)
        whole = f"{path}/{_NAME}.{max(_numbers(path), default=-1) + 1}"
        partly = f"{whole}.tmp"
        _DISK.delete(partly)
        _DISK.mkdirs(partly)
        program = self.main_program if main_program is None else main_program
        save_persistables(executor, partly, program, filename=_VALUES)
        said = f'{{"epoch_no": {train_status._epoch_no}}}'  # JSON, and a literal of Python
        Path(partly, _STATUS).write_text(said, encoding="utf-8")
        _DISK.mv(partly, whole)
        if not remain_all_checkpoint:
            self.clean_redundant_check_points(path)

    def load_check_point(
        self,
        executor: Any,
        path: str,
        trainer_id: int = 0,
        main_program: Any = None,
        fs: Any = None,
        local_cache_path: str = ".cache",
        ignore_empty: bool = True,
    ) -> TrainStatus | None:
        """Take the values of the youngest, and say how far it was. Without any: None, or with
        ``ignore_empty=False`` an error."""
        _check(fs)
        numbers = _numbers(path)
        if not numbers:
            if ignore_empty:
                return None
            raise FleetError(f"fleet.load_check_point: there is no {_NAME}.* in {path}")
        found = f"{path}/{_NAME}.{max(numbers)}"
        program = self.main_program if main_program is None else main_program
        load_persistables(executor, found, program, filename=_VALUES)
        return TrainStatus(ast.literal_eval(_DISK.cat(f"{found}/{_STATUS}"))["epoch_no"])

    def clean_redundant_check_points(self, root_path: str, fs: Any = None, checkpoint_num: int = 1) -> None:
        """Keep the youngest ``checkpoint_num``, at least one."""
        _check(fs)
        for number in sorted(_numbers(root_path))[: -max(checkpoint_num, 1)]:
            _DISK.delete(f"{root_path}/{_NAME}.{number}")


def _numbers(path: str) -> list[int]:
    parted = (name.split(".") for name in _DISK.list_dirs(path))
    return [int(each[1]) for each in parted if each[0] == _NAME and len(each) == 2 and each[1].isdigit()]


def _check(fs: Any) -> None:
    if fs is not None and fs.need_upload_download():
        raise NotInThisRelease(
            "checkpoints of fleet are folders of this machine, or one that is mounted here: leave fs out."
        )
