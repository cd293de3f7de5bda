"""Readers as variables of a program: ``py_reader``, ``create_py_reader_by_data``, ``read_file``,
``double_buffer``.

A ``read`` operator names its reader; the Reader itself is found by that name. It must never know
what is read. Guarantee: a program that is cloned reads of the same reader.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description import unique_name
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.errors import BadArgument
from paddle._program.reading.feeders import of_arrays, of_samples
from paddle._program.reading.reader import Batches, Reader, fresh_name

Shapes = tuple[Sequence[Sequence[int]], Sequence[Any], Sequence[int] | None]
"""Of variables: their shapes, dtypes and levels."""


def make_reader(variables: Sequence[Any], name: str | None = None) -> Reader:
    """A reader of these variables, which the default main program reads from now on."""
    made = _declared(name)
    _append_read(made.name, variables)
    return made


def _declared(name: str | None, kind: type[Reader] = Reader) -> Reader:
    name = fresh_name() if name is None else name
    default_main_program().global_block().create_var(name=name, type=VarType.READER, persistable=True)
    return kind(name)


def _append_read(name: str, variables: Sequence[Any]) -> None:
    default_main_program().global_block().append_op(
        type="read", inputs={"Reader": [name]}, outputs={"Out": [variable.name for variable in variables]}
    )


class ReaderVariable:
    """What ``py_reader`` returns: a reader, whose variables ``read_file`` returns."""

    def __init__(
        self, variables: Sequence[Any], name: str | None = None, kind: type[Reader] = Reader
    ) -> None:
        self.variables = list(variables)
        self._reader = _declared(name, kind)
        self._is_read = False

    @property
    def name(self) -> str:
        """Its name in the program and in the scope."""
        return self._reader.name

    @property
    def queue(self) -> Reader:
        """What holds the batches that are read ahead; its ``size()`` says how many."""
        return self._reader

    def start(self) -> None:
        """Begin a pass."""
        self._reader.start()

    def reset(self) -> None:
        """End it."""
        self._reader.reset()

    def decorate_paddle_reader(self, reader: Batches, places: Any = None) -> None:
        """``reader()`` gives lists of samples."""
        self._reader.decorate(reader, of_samples(self.variables))

    decorate_sample_list_generator = decorate_paddle_reader

    def decorate_tensor_provider(self, reader: Batches, places: Any = None) -> None:
        """``reader()`` gives arrays or LoDTensors, one for each variable."""
        self._reader.decorate(reader, of_arrays(self.variables))

    decorate_batch_generator = decorate_tensor_provider

    def decorate_sample_generator(
        self, sample_generator: Batches, batch_size: int, drop_last: bool = True, places: Any = None
    ) -> None:
        """``sample_generator()`` gives samples."""
        from paddle.batch import batch

        self.decorate_paddle_reader(batch(lambda: iter(sample_generator()), batch_size, drop_last))

    def read(self) -> list[Any]:
        """Its variables, which the default main program reads from now on."""
        if not self._is_read:
            _append_read(self.name, self.variables)
            self._is_read = True
        return self.variables


def py_reader(
    capacity: int,
    shapes: Sequence[Sequence[int]],
    dtypes: Sequence[Any],
    lod_levels: Sequence[int] | None = None,
    name: str | None = None,
    use_double_buffer: bool = True,
) -> ReaderVariable:
    """A reader of new variables of these shapes and dtypes."""
    return ReaderVariable(declared(shapes, dtypes, lod_levels), name)


def declared(
    shapes: Sequence[Sequence[int]], dtypes: Sequence[Any], lod_levels: Sequence[int] | None
) -> list[Any]:
    """New variables of these shapes and dtypes, for a reader to fill."""
    levels = [0] * len(shapes) if lod_levels is None else lod_levels
    if not len(shapes) == len(dtypes) == len(levels):
        raise BadArgument(
            f"py_reader: {len(shapes)} shapes, {len(dtypes)} dtypes and {len(levels)} lod_levels; "
            "there is one of each for a variable"
        )
    block = default_main_program().global_block()
    read = unique_name.generate("read_file")
    return [
        block.create_var(
            name=unique_name.generate(f"{read}.tmp"),
            shape=tuple(shape),
            dtype=dtype,
            lod_level=level,
            stop_gradient=True,
            is_data=True,
        )
        for shape, dtype, level in zip(shapes, dtypes, levels, strict=True)
    ]


def create_py_reader_by_data(
    capacity: int, feed_list: Sequence[Any], name: str | None = None, use_double_buffer: bool = True
) -> ReaderVariable:
    """A reader of variables that there are."""
    return ReaderVariable(feed_list, name)


def read_file(reader: ReaderVariable) -> Any:
    """The variables of a reader; of one variable itself."""
    if not isinstance(reader, ReaderVariable):
        raise BadArgument(
            f"read_file takes what py_reader, create_py_reader_by_data or open_files gave, not {reader!r}"
        )
    found = reader.read()
    return found[0] if len(found) == 1 else found


def double_buffer(reader: ReaderVariable, place: Any = None, name: str | None = None) -> ReaderVariable:
    """The reader itself: the next batch is read while a step is computed."""
    return reader
