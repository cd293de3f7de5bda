"""Blocks: how programs show parameters cut for several parameter servers.

It must never know where a block goes. Guarantee: the blocks of a parameter are all of it, in order, each of
whole rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paddle._program.errors import BadArgument


@dataclass(frozen=True, slots=True)
class VarBlock:
    """Block number ``offset`` of a variable, of ``size`` elements."""

    varname: str
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.varname}:{self.offset}:{self.size}"


@dataclass(frozen=True, slots=True)
class Piece:
    """What a program calls a block, and its shape."""

    name: str
    shape: tuple[int, ...]


def slice_variable(var_list: Sequence[Any], slice_count: int, min_block_size: int = 8192) -> list[str]:
    """The blocks ``name:number:size`` of variables that are cut for ``slice_count`` servers: each of
    ``min_block_size`` elements or more, and of whole rows."""
    return [str(block) for each in var_list for block in cut(each, slice_count, min_block_size)]


def cut(variable: Any, count: int, least: int) -> list[VarBlock]:
    """The blocks of one variable, ``count`` at most."""
    if least < 1:
        raise BadArgument(f"min_block_size is 1 or more, not {least!r}")
    elements = math.prod(variable.shape)
    most = max(1, min(count, elements // least))
    size = math.ceil(elements / most)
    row = math.prod(variable.shape[1:]) if len(variable.shape) >= 2 else 1
    size += -size % row
    return [
        VarBlock(variable.name, number, min(size, elements - number * size))
        for number in range(math.ceil(elements / size))
    ]


def pieces(variable: Any, count: int, least: int, suffix: str = "") -> list[Piece]:
    """The same, as programs name and shape them; one that is whole keeps its name. ``suffix``: of the
    variable's name, such as a gradient's."""
    blocks = cut(variable, count, least)
    name, shape = variable.name + suffix, tuple(variable.shape)
    if len(blocks) == 1:
        return [Piece(name, shape)]
    row = math.prod(shape[1:]) if len(shape) >= 2 else 1
    return [Piece(f"{name}.block{b.offset}", (b.size // row, *shape[1:])) for b in blocks]
