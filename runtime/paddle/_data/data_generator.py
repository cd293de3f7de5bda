"""Data generators: what a program derives from to write lines of slots, mostly on the other end of a
dataset's ``pipe_command``: lines in on stdin, lines of slots out on stdout.

It must never load anything heavy: one such process is started for each file. Guarantee: a line is written
whole, or an error says what was wrong with its sample; every line names the same slots in the same order.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

__all__ = ["DataGenerator", "MultiSlotDataGenerator", "MultiSlotStringDataGenerator"]

Sample = Sequence[tuple[str, Sequence[Any]]]
Samples = Callable[[], Iterable[Sample | None]] | Iterable[Sample | None]


class DataGenerator:
    """Derive and write ``generate_sample(line)``: it returns an iterator, or a function that gives one, of
    samples ``[(name, [value, ...]), ...]``; None is left out."""

    def __init__(self) -> None:
        self._proto_info: list[tuple[str, str]] | None = None
        self.batch_size_ = 32

    def set_batch(self, batch_size: int) -> None:
        """How many samples ``generate_batch`` is given at a time."""
        if batch_size < 1:
            raise ValueError(f"set_batch wants 1 sample or more, not {batch_size}")
        self.batch_size_ = batch_size

    def generate_sample(self, line: str | None) -> Samples:
        """The samples of a line of stdin; of None for ``run_from_memory``."""
        raise NotImplementedError(
            "a data generator says in generate_sample(line) what the samples of a line are"
        )

    def generate_batch(self, samples: list[Sample]) -> Samples:
        """What to write of so many samples: they themselves, unless a program knows better."""

        def local_iter() -> Iterator[Sample]:
            yield from samples

        return local_iter

    def run_from_stdin(self) -> None:
        """Write the samples of each line of stdin to stdout."""
        self._run(sample for line in sys.stdin for sample in _each(self.generate_sample(line)))

    def run_from_memory(self) -> None:
        """Write the samples of ``generate_sample(None)`` to stdout."""
        self._run(iter(_each(self.generate_sample(None))))

    def _run(self, samples: Iterator[Sample | None]) -> None:
        batch: list[Sample] = []
        for sample in samples:
            if sample is None:
                continue
            batch.append(sample)
            if len(batch) == self.batch_size_:
                self._write(batch)
                batch = []
        if batch:
            self._write(batch)
        sys.stdout.flush()

    def _write(self, batch: list[Sample]) -> None:
        for sample in _each(self.generate_batch(batch)):
            if sample is not None:
                sys.stdout.write(self._gen_str(sample))

    def _gen_str(self, line: Any) -> str:
        raise NotImplementedError(
            "derive from MultiSlotDataGenerator or MultiSlotStringDataGenerator, which know what a line is"
        )


class MultiSlotStringDataGenerator(DataGenerator):
    """Samples are ``[(name, ["value", ...]), ...]``, texts that are written as they are: the quick one.

    A text in place of a list stands for its characters, as in upstream: ``("click", "1")`` is one value.
    """

    def _gen_str(self, line: Any) -> str:
        pairs = _pairs(line, (list, tuple, str))
        if self._proto_info is None:
            self._proto_info = [(name, "str") for name, _ in pairs]
        _same_slots(self._proto_info, pairs)
        return " ".join(f"{len(values)} {' '.join(values)}" for _, values in pairs) + "\n"


class MultiSlotDataGenerator(DataGenerator):
    """Samples are ``[(name, [value, ...]), ...]``, values whole numbers (ids) or floats."""

    def _gen_str(self, line: Any) -> str:
        pairs = _pairs(line)
        if self._proto_info is None:
            self._proto_info = [(name, "uint64") for name, _ in pairs]
        _same_slots(self._proto_info, pairs)
        for place, (name, values) in enumerate(pairs):
            if _has_floats(name, values):
                self._proto_info[place] = (name, "float")
        return " ".join(f"{len(values)} {' '.join(map(str, values))}" for _, values in pairs) + "\n"


def _each(samples: Samples) -> Iterable[Sample | None]:
    return samples() if callable(samples) else samples


def _pairs(line: Any, of: tuple[type, ...] = (list, tuple)) -> list[tuple[str, Sequence[Any]]]:
    """A sample as pairs, whose values are ``of`` such types. Raises ValueError."""
    if isinstance(line, zip):
        line = list(line)
    if not isinstance(line, list | tuple):
        raise ValueError(
            "the output of generate_sample must be a list or a tuple of (name, values), such as "
            f"[('words', [1926, 8, 17]), ('label', [1])]; it is a {type(line).__name__}"
        )
    for item in line:
        if not isinstance(item, list | tuple) or len(item) != 2:
            raise ValueError(f"a sample has pairs (name, values), and one of them is {item!r}")
        name, values = item
        if not isinstance(name, str):
            raise ValueError(f"the name of a slot must be a str, and {name!r} is a {type(name).__name__}")
        if not isinstance(values, of):
            raise ValueError(f"the values of slot {name} must be a list, not a {type(values).__name__}")
        if not values:
            raise ValueError(
                f"the values of slot {name} cannot be empty: give it a value that stands for none (padding)"
            )
    return list(line)


def _same_slots(known: list[tuple[str, str]], pairs: list[tuple[str, Sequence[Any]]]) -> None:
    if len(pairs) != len(known):
        raise ValueError(f"the first sample had {len(known)} slots, and this one has {len(pairs)}")
    for (before, _), (name, _) in zip(known, pairs, strict=True):
        if name != before:
            raise ValueError(f"the first sample had slot {before} where this one has {name}")


def _has_floats(name: str, values: Sequence[Any]) -> bool:
    """Raises ValueError for what is no number."""
    found = False
    for value in values:
        if not isinstance(value, int):
            if not isinstance(value, float) and not hasattr(value, "dtype"):
                raise ValueError(
                    f"the values of slot {name} must be int or float, not a {type(value).__name__}: {value!r}"
                )
            found = True
    return found
