"""Products by letters: ``paddle.einsum``.

It must never compute: it appends transpositions, products of matrices and sums to the default program.
Guarantee: no array is made that is larger than the operands, laid out, and the product; axes may be of any
size (-1 in a declaration), but for all but one of several letters that are summed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paddle.tensor.diagonals import diagonal
from paddle.tensor.linalg import matmul
from paddle.tensor.manipulation import reshape, squeeze, transpose, unsqueeze
from paddle.tensor.math import sum

__all__ = ["einsum"]

_HIDDEN = "0123456789"
"""Letters of the axes that three dots stand for, the last of them last."""


@dataclass(frozen=True)
class _Lettered:
    """A tensor and a letter for each of its axes."""

    tensor: Any
    letters: str

    def in_order(self, letters: str) -> _Lettered:
        """With its axes in the order of ``letters``, which are its own."""
        if letters == self.letters:
            return self
        perm = [self.letters.index(each) for each in letters]
        return _Lettered(transpose(self.tensor, perm), letters)

    def with_ones(self, letters: str) -> _Lettered:
        """With an axis of size 1 for each of ``letters`` that it lacks, in this order."""
        own = self.in_order("".join(each for each in letters if each in self.letters))
        axes = [at for at, each in enumerate(letters) if each not in self.letters]
        return _Lettered(unsqueeze(own.tensor, axes) if axes else own.tensor, letters)

    def without(self, letters: str) -> _Lettered:
        """Summed over ``letters``."""
        axes = [at for at, each in enumerate(self.letters) if each in letters]
        left = "".join(each for each in self.letters if each not in letters)
        return _Lettered(sum(self.tensor, axes), left) if axes else self


def einsum(equation: str, *operands: Any) -> Any:
    """What ``equation`` says in letters: ``"bij,bjk->bik"`` are products of matrices, ``"ij->ji"`` is one
    transposed, ``"...d,d->..."`` takes any axes for three dots. A letter on the right of the arrow stays,
    others are summed over; without an arrow those stay, by the alphabet, that are there once.

    More than two operands are multiplied from the left on. A letter twice in one operand is its diagonal.
    """
    found, result = _read(equation, operands)
    product = found[0]
    for place, second in enumerate(found[1:], 1):
        wanted = result + "".join(each.letters for each in found[place + 1 :])
        product = _product(product, second, wanted)
    product = product.without("".join(each for each in product.letters if each not in result))
    return product.in_order(result).tensor


def _read(equation: str, operands: Sequence[Any]) -> tuple[list[_Lettered], str]:
    said, arrow, right = equation.replace(" ", "").partition("->")
    lefts = said.split(",")
    if len(lefts) != len(operands):
        raise ValueError(f"einsum: {equation!r} is of {len(lefts)} operands, and there are {len(operands)}")
    found = [_lettered(equation, left, each) for left, each in zip(lefts, operands, strict=True)]
    hidden = "".join(each for each in _HIDDEN if any(each in one.letters for one in found))
    letters = "".join(each.letters for each in found)
    if not arrow:
        right = "..." + "".join(sorted(each for each in set(letters) if letters.count(each) == 1))
        right = "".join(each for each in right if each not in hidden)
    right = right.replace("...", hidden)
    if strange := [each for each in right if each not in letters or right.count(each) > 1]:
        raise ValueError(f"einsum: {strange[0]!r} stands on the right of {equation!r} only, or twice")
    return found, right


def _lettered(equation: str, letters: str, tensor: Any) -> _Lettered:
    rank = len(tensor.shape)
    if "..." in letters:
        more = rank - (len(letters) - 3)
        letters = letters.replace("...", _HIDDEN[len(_HIDDEN) - more :] if more > 0 else "")
    if len(letters) != rank or not all(each.isalpha() or each in _HIDDEN for each in letters):
        raise ValueError(
            f"einsum: {letters!r} of {equation!r} does not name the axes of {list(tensor.shape)}"
        )
    while twice := [each for each in letters if letters.count(each) > 1]:
        first, second = letters.index(twice[0]), letters.rindex(twice[0])
        tensor = diagonal(tensor, 0, first, second)
        letters = "".join(each for at, each in enumerate(letters) if at not in (first, second)) + twice[0]
    return _Lettered(tensor, letters)


def _product(x: _Lettered, y: _Lettered, wanted: str) -> _Lettered:
    """The product of two, of the letters that are ``wanted``."""
    x = x.without("".join(each for each in x.letters if each not in wanted + y.letters))
    y = y.without("".join(each for each in y.letters if each not in wanted + x.letters))
    shared = [each for each in x.letters if each in y.letters]
    batch = "".join(each for each in shared if each in wanted)
    summed = "".join(each for each in shared if each not in wanted)
    left = "".join(each for each in x.letters if each not in shared)
    right = "".join(each for each in y.letters if each not in shared)
    before = batch + left[:-1] + right[:-1]
    first, second = x.with_ones(before + left[-1:] + summed), y.with_ones(before + summed + right[-1:])
    product = matmul(
        _matrices(first.tensor, bool(left), len(summed), is_first=True),
        _matrices(second.tensor, bool(right), len(summed), is_first=False),
    )
    if dropped := [axis for axis, letters in ((-2, left), (-1, right)) if not letters]:
        product = squeeze(product, [len(product.shape) + axis for axis in dropped])
    return _Lettered(product, before + left[-1:] + right[-1:])


def _matrices(x: Any, has_own: bool, summed: int, *, is_first: bool) -> Any:
    """A tensor as matrices: its last axis but those that are summed, and these as one."""
    if not has_own and is_first:
        x = unsqueeze(x, len(x.shape) - summed)
    elif not has_own:
        x = unsqueeze(x, len(x.shape))
    own = 0 if is_first else 1
    if summed == 0:
        return unsqueeze(x, len(x.shape) - own)
    if summed == 1:
        return x
    kept = len(x.shape) - summed - own
    merged = 1
    for size in x.shape[kept : kept + summed]:
        merged = -1 if size < 0 or merged < 0 else merged * size
    return reshape(x, [0] * kept + [merged] + [x.shape[-1]] * own)
