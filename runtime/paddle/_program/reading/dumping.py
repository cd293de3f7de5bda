"""What programs have dumped of batches of a dataset: for each sample its texts and some variables, a line;
and parameters after each batch.

    ID <tab> CONTENT <tab> FIELD:COUNT:v:v... <tab> ...
    (BATCH,PARAMETER):v:v...

It must never know what a program computes. Guarantee: a line is whole, whichever threads write; what cannot
be dumped is refused by its key, and a variable that a run does not have, or not with a row or a sequence for
each sample, is passed over, as the original does.

Semantics: PaddlePaddle 2.0 to 2.3 (device_worker.cc). Later ones have commas between values.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._data.records import Records
from paddle._program.description.open_tables import open_tables

DUMPED = ("dump_fields_path", "dump_fields", "dump_param")
"""What says that something is dumped, and what."""
_OTHERWISE = ("dump_converter", "enable_random_dump", "is_dump_in_simple_mode", "dump_slot")
_ELSEWHERE = ("afs:", "hdfs:")


def check(options: Mapping[str, Any], key: str) -> None:
    """Raise where an option asks for what is not dumped here."""
    value = options[key]
    if key in _OTHERWISE and value:
        raise NotInThisRelease(
            f"{key!r} = {value!r} is not in this release: all samples are dumped, as text. Leave it out, and "
            "take what is wanted from the files"
        )
    if key == "dump_fields_path" and str(value).startswith(_ELSEWHERE):
        raise NotInThisRelease(
            f"{key!r} = {value!r} is not of this machine, and files are written here: give a folder, and "
            "take them there afterwards"
        )


def dump_of(program: Any, dataset: Any) -> Dump | None:
    """What is dumped of a pass over ``dataset``, if anything is."""
    options = getattr(program, "_fleet_opt", None) or {}
    folder = options.get("dump_fields_path")
    fields, parameters = (list(options.get(key) or ()) for key in DUMPED[1:])
    if not folder or not (fields or parameters):
        return None
    for key in options:
        check(options, key)
    block, tables = program.global_block(), open_tables(program)
    known = [name for name in fields if block.has_var(name) and name not in tables]
    kept = [name for name in parameters if block.has_var(name) and name not in tables]
    return Dump(Path(folder) / _name(options), options.get("dump_fields_mode") == "a", known, kept, dataset)


def _name(options: Mapping[str, Any]) -> str:
    told = options.get("user_define_dump_filename")
    return f"part-{told or format(int(options.get('mpi_rank') or 0), '03d')}-00000"


class Dump:
    """See the module's text. ``fields``, ``parameters``: their names, of variables that the program has."""

    def __init__(
        self, path: Path, is_added: bool, fields: Sequence[str], parameters: Sequence[str], dataset: Any
    ) -> None:
        self._path, self._mode = path, "a" if is_added else "w"
        self.fields, self.parameters = fields, parameters
        self._settings, self._has_texts = dataset._settings, hasattr(dataset, "load_into_memory")
        self._lock = threading.Lock()
        self._file: Any = None

    def __enter__(self) -> Dump:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._path.open(self._mode, encoding="utf-8")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @property
    def names(self) -> list[str]:
        """What is fetched."""
        return [*self.fields, *self.parameters]

    def write(self, records: Records, found: Sequence[Any], thread: int, number: int) -> None:
        """Dump a batch, the ``number``-th of a thread, from 0 on, of which ``names`` are ``found``."""
        many = len(self.fields)
        lines = self._of_samples(records, found[:many])
        for name, value in zip(self.parameters, found[many:], strict=True) if thread == 0 else ():
            lines.append(f"({number},{name}){_values(np.asarray(value).reshape(-1))}")
        text = "".join(f"{line}\n" for line in lines if line)
        with self._lock:
            self._file.write(text)

    def _of_samples(self, records: Records, found: Sequence[Any]) -> list[str]:
        if not self.fields:
            return []
        lines = self._begun(records)
        for name, value in zip(self.fields, found, strict=True):
            array, bounds = np.asarray(value), _bounds(value, len(records))
            if bounds is None:
                continue
            for sample in range(len(records)):
                own = array[bounds[sample] : bounds[sample + 1]].reshape(-1)
                lines[sample] += f"\t{name}:{own.size}{_values(own)}"
        return lines

    def _begun(self, records: Records) -> list[str]:
        """The samples' texts, empty ones where none were read; none at all of a QueueDataset."""
        if not self._has_texts:
            return [""] * len(records)
        has_ids, has_contents = self._settings.has_ids, self._settings.has_contents
        none = [""] * len(records)
        ids = (has_ids and records.text(0)) or none
        contents = (has_contents and records.text(int(has_ids))) or none
        return [f"{id}\t{content}" for id, content in zip(ids, contents, strict=True)]


def opened(dump: Dump | None) -> AbstractContextManager[Any]:
    """What holds its file open."""
    return nullcontext() if dump is None else dump


def _bounds(value: Any, samples: int) -> Sequence[int] | None:
    """Where the rows of each sample begin; None where it has none of them."""
    if np.ndim(np.asarray(value)) != 2:
        return None
    lod = value.lod() if hasattr(value, "lod") else []
    bounds: Sequence[int] = lod[0] if lod else range(len(np.asarray(value)) + 1)
    return bounds if len(bounds) == samples + 1 else None


def _values(array: np.ndarray) -> str:
    """As C++ prints numbers, each behind a colon."""
    if array.dtype in (np.float32, np.float64):
        return "".join(f":{each:g}" for each in array.tolist())
    if array.dtype == np.int64:
        return "".join(f":{each}" for each in array.astype(np.uint64).tolist())
    return "unsupported type"
