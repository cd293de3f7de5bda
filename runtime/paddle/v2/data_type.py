"""Types of the data that a program feeds: the width of a slot and how its samples are written.

They must never know a layer or a batch. Guarantee: two types are equal where dim, seq_type and type are.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

from paddle.v2._errors import WrongCall

__all__ = [
    "DataType",
    "InputType",
    "SequenceType",
    "dense_array",
    "dense_vector",
    "dense_vector_sequence",
    "dense_vector_sub_sequence",
    "integer_sequence",
    "integer_value",
    "integer_value_sequence",
    "integer_value_sub_sequence",
    "sparse_binary_vector",
    "sparse_binary_vector_sequence",
    "sparse_binary_vector_sub_sequence",
    "sparse_float_vector",
    "sparse_float_vector_sequence",
    "sparse_float_vector_sub_sequence",
    "sparse_vector",
    "sparse_vector_sequence",
    "sparse_vector_sub_sequence",
]


class SequenceType:
    """Whether a sample is one element, a list of them, or a list of lists."""

    NO_SEQUENCE = 0
    SEQUENCE = 1
    SUB_SEQUENCE = 2


ANY_INTEGER = 1 << 63
"""The ``dim`` of integers that count as numbers and name nothing, so that none of them is too great."""


class DataType:
    """How an element is written."""

    Dense = 0  # dim numbers
    SparseNonValue = 1  # the columns that are 1
    SparseValue = 2  # (column, value) pairs
    Index = 3  # an integer from 0 to dim - 1


@dataclass(frozen=True)
class InputType:
    """``dim`` columns (or integers below ``dim``), of a sequence type and a data type."""

    dim: int
    seq_type: int
    type: int

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "dim", operator.index(self.dim))
        except TypeError:
            raise WrongCall(f"{self}: the width of a slot is an integer, not {self.dim!r}") from None
        if self.dim < 1:
            raise WrongCall(f"{self}: the width of a slot is 1 or more")

    def __str__(self) -> str:
        kind = ("dense_vector", "sparse_binary_vector", "sparse_float_vector", "integer_value")[self.type]
        width = "" if self.dim == ANY_INTEGER else f"({self.dim})"
        return f"{kind}{('', '_sequence', '_sub_sequence')[self.seq_type]}{width}"


def dense_vector(dim: int, seq_type: int = SequenceType.NO_SEQUENCE) -> InputType:
    """``dim`` numbers, as a list, a tuple or an array."""
    return InputType(dim, seq_type, DataType.Dense)


def sparse_binary_vector(dim: int, seq_type: int = SequenceType.NO_SEQUENCE) -> InputType:
    """``dim`` columns of 0 and 1, as the list of the columns that are 1; one listed k times is k.

    An fc layer or a full_matrix_projection reads it as it is, however wide. Any other layer has it spread
    out, zeros and all: 2**27 numbers for a batch, 512 MiB, are the most.
    """
    return InputType(dim, seq_type, DataType.SparseNonValue)


def sparse_float_vector(dim: int, seq_type: int = SequenceType.NO_SEQUENCE) -> InputType:
    """``dim`` columns, as the list of (column, value) of those that are not 0; values of one column add up.

    Who reads it as it is: see sparse_binary_vector.
    """
    return InputType(dim, seq_type, DataType.SparseValue)


def integer_value(value_range: int, seq_type: int = SequenceType.NO_SEQUENCE) -> InputType:
    """An integer from 0 to ``value_range`` - 1."""
    return InputType(value_range, seq_type, DataType.Index)


def dense_vector_sequence(dim: int) -> InputType:
    """A list of dense vectors."""
    return dense_vector(dim, SequenceType.SEQUENCE)


def dense_vector_sub_sequence(dim: int) -> InputType:
    """A list of lists of dense vectors."""
    return dense_vector(dim, SequenceType.SUB_SEQUENCE)


def sparse_binary_vector_sequence(dim: int) -> InputType:
    """A list of sparse binary vectors."""
    return sparse_binary_vector(dim, SequenceType.SEQUENCE)


def sparse_binary_vector_sub_sequence(dim: int) -> InputType:
    """A list of lists of sparse binary vectors."""
    return sparse_binary_vector(dim, SequenceType.SUB_SEQUENCE)


def sparse_float_vector_sequence(dim: int) -> InputType:
    """A list of sparse vectors."""
    return sparse_float_vector(dim, SequenceType.SEQUENCE)


def sparse_float_vector_sub_sequence(dim: int) -> InputType:
    """A list of lists of sparse vectors."""
    return sparse_float_vector(dim, SequenceType.SUB_SEQUENCE)


def integer_value_sequence(value_range: int) -> InputType:
    """A list of integers."""
    return integer_value(value_range, SequenceType.SEQUENCE)


def integer_value_sub_sequence(value_range: int) -> InputType:
    """A list of lists of integers."""
    return integer_value(value_range, SequenceType.SUB_SEQUENCE)


dense_array = dense_vector
sparse_vector = sparse_float_vector
sparse_vector_sequence = sparse_float_vector_sequence
sparse_vector_sub_sequence = sparse_float_vector_sub_sequence
integer_sequence = integer_value_sequence
