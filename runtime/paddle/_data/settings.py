"""What a dataset was told, by either generation's names.

It must never read a file. Guarantee: what cannot be is said where it is told.
"""

from __future__ import annotations

import glob
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._complaint import Complaint
from paddle._data.slot import Slot, slots_of

_ELSEWHERE = ("afs:", "hdfs:")


class BadSetting(Complaint, ValueError):
    """A dataset was told what cannot be, or too little."""


@dataclass(slots=True)
class Settings:
    """``threads``: that read and train. ``files``: in the order in which one thread reads them."""

    batch_size: int = 1
    threads: int = 1
    use_var: list[Any] = field(default_factory=list)
    pipe_command: str = "cat"
    files: list[str] | None = None
    slots: tuple[Slot, ...] = ()
    input_type: int = 0
    has_ids: bool = False
    has_contents: bool = False

    @property
    def labels(self) -> int:
        """How many texts a line has before its slots: the id of a sample, and its content."""
        return self.has_ids + self.has_contents

    def set_batch_size(self, batch_size: int) -> None:
        """Samples in a batch."""
        self.batch_size = _one_or_more("batch_size", batch_size)

    def set_threads(self, threads: int) -> None:
        """0 is one, as upstream's."""
        self.threads = max(1, int(threads))

    def set_use_var(self, variables: Sequence[Any]) -> None:
        """The variables that a line fills, in its order. Raises ValueError for their dtypes."""
        self.slots = slots_of(variables)
        self.use_var = list(variables)

    def set_pipe_command(self, command: str) -> None:
        """What each file goes through."""
        if not isinstance(command, str):
            raise TypeError(f"pipe_command is one text for a shell, not a {type(command).__name__}")
        self.pipe_command = command

    def set_filelist(self, files: Sequence[str]) -> None:
        """The files; a name with ``*`` is all that it fits, sorted."""
        if isinstance(files, str) or not all(isinstance(file, str) for file in files):
            raise TypeError("set_filelist takes a list of file names")
        found: list[str] = []
        for file in files:
            if file.startswith(_ELSEWHERE):
                raise NotInThisRelease(
                    f"datasets read files that the machine has, {file!r} is elsewhere: mount it, or fetch "
                    "the files in pipe_command (set_filelist of small files that name them)"
                )
            matches = sorted(glob.glob(file)) if "*" in file else [file]  # noqa: PTH207
            if not matches:
                raise BadSetting(
                    f"set_filelist: no file fits {file!r}. Correct the pattern, or make the files first"
                )
            found += matches
        if not found:
            warnings.warn(
                "set_filelist: no file, so this dataset trains nothing but what a global shuffle brings. "
                "Where workers share files out (fleet.util.get_file_shard) there are more workers than files",
                stacklevel=3,
            )
        self.files = found

    @property
    def read(self) -> tuple[str, ...]:
        """The files, none where none was said."""
        return tuple(self.files or ())

    def set_file_system(self, fs_name: str, fs_ugi: str) -> None:
        """That of files elsewhere; as upstream's, it is nothing to files of this machine."""

    def checked(self) -> Settings:
        """Itself, when there is something to read. Raises BadSetting."""
        if not self.slots:
            raise BadSetting(
                "a dataset reads nothing before it knows use_var: the variables that a line fills"
            )
        if self.files is None:
            raise BadSetting("a dataset does not know what to read before set_filelist")
        return self

    def text(self) -> str:
        """As upstream's DataFeedDesc is printed."""
        slots = "".join(
            f'  slots {{\n    name: "{slot.name}"\n    type: "{"float" if slot.is_float else "uint64"}"\n'
            f"    is_dense: {str(slot.is_dense).lower()}\n    is_used: true\n"
            + "".join(f"    shape: {size}\n" for size in ((-1, *slot.shape) if slot.is_dense else ()))
            + "  }\n"
            for slot in self.slots
        )
        return (
            f'name: "MultiSlotDataFeed"\nbatch_size: {self.batch_size}\nmulti_slot_desc {{\n{slots}}}\n'
            f'pipe_command: "{self.pipe_command}"\nthread_num: {self.threads}\n'
        )


def _one_or_more(name: str, value: int) -> int:
    if isinstance(value, bool) or int(value) < 1:
        raise BadSetting(f"{name} of a dataset is 1 or more, not {value}")
    return int(value)
