"""LoDTensor: an array and, where its rows are sequences, where each of these begins and ends.

A level of its LoD is a list of offsets: level 0 divides the entries of level 1, the last level divides the
rows. Outside it is also said by lengths, a list of how long each is; both forms are accepted by name.

It must never know a program or a place. Guarantees: what was set is what is given back, values and dtype; a
value set in a tensor that somebody computes with is set in place, so who computes with it sees it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, dtype_of

Array = np.ndarray
Lod = list[list[int]]

_NAMES = {"float32": "float", "float64": "double", "int64": "int64_t", "int32": "int", "bool": "bool"}


class LoDTensor:
    """An array with the offsets of its sequences, one list for each level."""

    __slots__ = ("__weakref__", "_array", "_lod", "_refresh", "_replaced")

    def __init__(self, array: Any = None, lod: Iterable[Sequence[int]] = ()) -> None:
        self._array: Array | None = None if array is None else np.asarray(array)
        self._lod: list[Sequence[int] | Array] = []
        self._replaced: Callable[[], None] = _nothing  # is told when another array is there
        self._refresh: Callable[[], object] | None = None  # brings the array up to date
        self.set_lod(lod)

    def set(self, array: Any, place: object = None, zero_copy: bool = False) -> None:
        """Take a copy of ``array``. The place does not matter: there is one memory."""
        given, held = np.asarray(array), self._array
        if held is not None and held.shape == given.shape and self._takes(given.dtype):
            np.copyto(held, given, casting="unsafe")
            return
        self._array = np.array(given, order="C", copy=True)
        self._replaced()

    def _takes(self, dtype: np.dtype) -> bool:
        """Whether what is held is of that dtype, or belongs to somebody who computes in its own."""
        held = self._array
        return held is not None and (held.dtype == dtype or not held.flags.owndata) and held.flags.writeable

    @classmethod
    def of_sequences(cls, rows: Array, ends: Array) -> LoDTensor:
        """``rows`` of one level, whose offsets ``ends`` (int64) are right: neither is looked at."""
        made = cls(rows)
        made._lod = [ends]
        return made

    def lod(self) -> Lod:
        """The offsets of each level."""
        return [np.asarray(level, np.int64).tolist() for level in self._lod]

    def set_lod(self, lod: Iterable[Sequence[int]]) -> None:
        """Say by offsets which rows are one sequence."""
        found = [[int(each) for each in level] for level in lod]
        for number, level in enumerate(found):
            if level and (level[0] != 0 or any(b < a for a, b in pairwise(level))):
                raise ValueError(
                    f"level {number} of a LoD is {level[:8]}: offsets begin with 0 and never fall; lengths "
                    "of sequences are set by set_recursive_sequence_lengths"
                )
        self._lod = [*found]

    def recursive_sequence_lengths(self) -> Lod:
        """The lengths of each level."""
        return [np.diff(np.asarray(level, np.int64)).tolist() for level in self._lod]

    def set_recursive_sequence_lengths(self, recursive_sequence_lengths: Iterable[Sequence[int]]) -> None:
        """Say by lengths which rows are one sequence; ValueError where the rows are not as many."""
        before, self._lod = self._lod, [offsets(level) for level in recursive_sequence_lengths]
        if self._array is not None and not self.has_valid_recursive_sequence_lengths():
            said, self._lod = self.recursive_sequence_lengths(), before
            raise ValueError(
                f"recursive_sequence_lengths {said} do not divide an array of shape {self.shape()}: lengths "
                "add up to how many the next level has, those of the last one to the rows"
            )

    def has_valid_recursive_sequence_lengths(self) -> bool:
        """Whether each level divides the one below it, and the last one the rows."""
        if not self._lod:
            return True
        ends = [level[-1] if len(level) else -1 for level in self._lod]
        below = [*(len(level) - 1 for level in self._lod[1:]), self.shape()[0] if self.shape() else -1]
        return ends == below

    def shape(self) -> list[int]:
        """The sizes of the array, none while there is no array."""
        return [] if self._array is None else list(self._array.shape)

    def array(self) -> Array:
        """The array itself."""
        if self._array is None:
            raise ValueError("this LoDTensor holds nothing yet: set(array, place), or run what writes it")
        if self._refresh is not None:
            self._refresh()
        return self._array

    def _dtype(self) -> VarType:
        return dtype_of(self.array().dtype)

    def _is_initialized(self) -> bool:
        return self._array is not None

    def _get_dims(self) -> list[int]:
        return self.shape()

    def _get_float_element(self, offset: int) -> float:
        """The float32 at that place, counted over all rows. TypeError of another dtype, IndexError beyond."""
        return float(self._element("float32", offset)[offset])

    def _get_double_element(self, offset: int) -> float:
        """The same of float64, which runs keep as float32."""
        return float(self._element("float64", offset)[offset])

    def _set_float_element(self, offset: int, value: float) -> None:
        """Put a float32 at that place."""
        self._element("float32", offset)[offset] = value

    def _set_double_element(self, offset: int, value: float) -> None:
        """The same of float64."""
        self._element("float64", offset)[offset] = value

    def _element(self, dtype: str, offset: int) -> Any:
        """All values one after another; what is put there is put in the tensor."""
        array = self.array()
        if array.dtype != dtype and not (dtype == "float64" and array.dtype == "float32"):
            raise TypeError(f"this LoDTensor holds {array.dtype}, and is asked for an element of {dtype}")
        if not 0 <= offset < array.size:
            raise IndexError(f"element {offset} of a LoDTensor that holds {array.size}: {list(array.shape)}")
        return array.flat

    # The names of releases before 0.15.
    get_dims = _get_dims
    get_float_element, set_float_element = _get_float_element, _set_float_element

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array(), dtype)

    def __len__(self) -> int:
        return len(self.array())

    def __getitem__(self, index: Any) -> Any:
        return self.array()[index]

    def __str__(self) -> str:
        """As 1.8 writes it, all numbers in one line: programs cut it to pieces."""
        if self._array is None:
            return "\tnot initialized\n"
        lod = ", ".join("{" + ", ".join(map(str, level)) + "}" for level in self._lod)
        name = self._array.dtype.name
        lines = [
            f"lod: {{{lod}}}",
            f"dim: {', '.join(map(str, self.shape()))}",
            "layout: NCHW",
            f"dtype: {_NAMES.get(name, name)}",
            f"data: [{' '.join(map(_number, self.array().reshape(-1).tolist()))}]",
        ]
        return "".join(f"\t{line}\n" for line in lines)

    def __repr__(self) -> str:
        if self._array is None:
            return "LoDTensor()"
        return f"LoDTensor(shape={self.shape()}, dtype={self._array.dtype.name}, lod={self._lod})"


class LoDTensorArray(list[LoDTensor]):
    """A list of LoDTensors, in which arrays become such."""

    def append(self, tensor: Any) -> None:
        """Add one at the end."""
        super().append(tensor if isinstance(tensor, LoDTensor) else LoDTensor(tensor))


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(int(value))


def offsets(lengths: Iterable[int]) -> list[int]:
    """Where sequences of these lengths begin, and where the last one ends."""
    lengths = list(lengths)
    if (least := min(lengths, default=0)) < 0:
        raise ValueError(f"a sequence cannot have {least} elements")
    return list(accumulate(map(int, lengths), initial=0))


def create_lod_tensor(data: Any, recursive_seq_lens: Sequence[Sequence[int]], place: object) -> LoDTensor:
    """A tensor of sequences whose lengths are given, outermost level first.

    ``data``: an array, another tensor, or a list of sequences of numbers, each of which becomes a row. Raises
    ValueError where the lengths do not divide it.
    """
    if isinstance(data, LoDTensor):
        data = data.array()
    if isinstance(data, list):
        found = [len(each) for each in _sequences(data)]
        if [found] != [list(level) for level in recursive_seq_lens]:
            raise ValueError(
                f"the data are sequences of the lengths {found}, and recursive_seq_lens says "
                f"{[list(level) for level in recursive_seq_lens]}"
            )
        data = _rows(data)
    if not isinstance(data, np.ndarray):
        raise TypeError(
            f"data of create_lod_tensor is a LoDTensor, an array or a list, not {type(data).__name__}"
        )
    tensor = LoDTensor(data)
    tensor.set_recursive_sequence_lengths(recursive_seq_lens)
    return tensor


def create_random_int_lodtensor(
    recursive_seq_lens: Sequence[Sequence[int]],
    base_shape: Sequence[int],
    place: object,
    low: int,
    high: int,
) -> LoDTensor:
    """A tensor of such sequences of random integers from ``low`` to ``high``, both included."""
    if not isinstance(base_shape, Sequence):
        raise TypeError("base_shape is a list, the shape of one element")
    shape = [sum(recursive_seq_lens[-1]), *base_shape]
    data = np.random.randint(low, high + 1, shape, dtype=np.int64)
    return create_lod_tensor(data, recursive_seq_lens, place)


def _nothing() -> None:
    pass


def _sequences(data: list[Any]) -> Iterator[Any]:
    for each in data:
        if not isinstance(each, list | tuple | np.ndarray):
            raise TypeError(
                f"data of create_lod_tensor is a list of sequences, and holds a {type(each).__name__}"
            )
        yield each


def _rows(data: list[Any]) -> Array:
    """All elements of all sequences: integers as ids, others in single precision."""
    found = np.array([each for sequence in data for each in sequence])
    if found.dtype.kind == "f":
        found = found.astype(np.float32)
    return found.reshape((*found.shape, 1) if found.ndim == 1 else found.shape)
