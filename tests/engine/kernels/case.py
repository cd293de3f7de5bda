"""A kernel, its twin in plain numpy or Python, and what both are given: both must make the same of every
array, and give back the same.

Without a tolerance numbers are equal bit for bit, but that what is not a number has no bits to agree in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.kernels.barring import no_kernels

Draw = Callable[[st.SearchStrategy[Any]], Any]

MARGIN = 64
"""Numbers on either side of an array."""

SEEDS = st.integers(0, 2**32 - 1)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 3e38, -1e-42], np.float32)


@dataclass(frozen=True)
class Case:
    """``arguments`` draws those of one call. ``idle``: places of arguments that both leave with anything.
    ``shown``: what is compared, of what is given back and the arguments; all of it, where that is None.
    ``is_wide``: float64 numbers are given, too."""

    kernel: Any
    twin: Callable[..., Any]
    arguments: Callable[[Draw], tuple[Any, ...]]
    rtol: float = 0.0
    atol: float = 0.0
    idle: frozenset[int] = frozenset()
    shown: Callable[..., tuple[Any, ...]] | None = None
    is_wide: bool = False
    lack: str = ""  # what this processor has not, without which it is left out

    @property
    def name(self) -> str:
        return f"{self.kernel.py_func.__module__.rpartition('kernels.')[2]}.{self.kernel.__name__}"

    def check(self, arguments: tuple[Any, ...]) -> None:
        (found, memory), (expected, other_memory) = copied(arguments), copied(arguments)
        made = self.kernel(*found)
        with no_kernels():
            wanted = self.twin(*expected)
        hidden = set(self.idle)
        if self.shown is not None:
            self._same(self.shown(made, *found), self.shown(wanted, *expected), "what is shown")
            hidden = set(range(len(found)))
        else:
            self._same(made, wanted, "what is given back")
        for place, pair in enumerate(zip(found, expected, strict=True)):
            if place in hidden:
                for each in pair:
                    clear(each)
            else:
                self._same(*pair, f"argument {place}")
        self._same(memory, other_memory, "what is beside arguments")

    def _same(self, found: Any, expected: Any, what: str) -> None:
        if isinstance(expected, tuple):
            assert len(found) == len(expected)
            for mine, other in zip(found, expected, strict=True):
                self._same(mine, other, what)
        elif isinstance(expected, np.ndarray):
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
            if self.rtol or self.atol:
                np.testing.assert_allclose(found, expected, self.rtol, self.atol, err_msg=what)
            else:
                np.testing.assert_array_equal(found, expected, err_msg=what)
                if expected.dtype.kind == "f":
                    is_number = ~np.isnan(expected)
                    signs = (np.signbit(each[is_number]) for each in (found, expected))
                    np.testing.assert_array_equal(*signs, err_msg=f"{what}, signs")
        elif isinstance(expected, float) and (self.rtol or self.atol):
            assert found == pytest.approx(expected, rel=self.rtol, abs=self.atol, nan_ok=True), what
        else:
            assert found == expected, what


def owner(x: np.ndarray) -> np.ndarray:
    """The array of which this is a part; itself, where it is whole."""
    return x.base if isinstance(x.base, np.ndarray) else x


def copied(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
    """The same anew, and the memory of all arrays, each between margins of its own: so what is written or
    read beside them is seen. What is part of another array, or is there twice, is so again."""
    memory: dict[int, np.ndarray] = {}

    def copy(x: Any) -> Any:
        if isinstance(x, tuple):
            return tuple(copy(each) for each in x)
        if not isinstance(x, np.ndarray):
            return x
        whole = owner(x)
        assert whole.flags.forc
        if id(whole) not in memory:
            memory[id(whole)] = np.full(whole.size + 2 * MARGIN, 77, whole.dtype)
            memory[id(whole)][MARGIN : MARGIN + whole.size] = whole.reshape(-1, order="A")
        begin = MARGIN * x.itemsize + x.ctypes.data - whole.ctypes.data
        own = np.ndarray(x.shape, x.dtype, memory[id(whole)], begin, x.strides)
        own.flags.writeable = x.flags.writeable
        return own

    return tuple(copy(each) for each in arguments), tuple(memory.values())


def wide(x: Any) -> Any:
    """The same in float64, where it is float32."""
    if isinstance(x, tuple):
        return tuple(wide(each) for each in x)
    is_narrow = isinstance(x, np.ndarray | np.float32) and x.dtype == np.float32
    return x.astype(np.float64) if is_narrow else x


def clear(x: Any) -> None:
    if isinstance(x, tuple):
        for each in x:
            clear(each)
    elif isinstance(x, np.ndarray):
        x.flags.writeable = True
        x[...] = 0


def held(cases: Iterable[Case]) -> Callable[..., None]:
    """The test that each kernel is its twin."""
    listed = list(cases)

    @pytest.mark.parametrize("case", listed, ids=lambda case: case.name)
    @settings(max_examples=25)
    @given(st.data())
    def test(case: Case, data: st.DataObject) -> None:
        if case.lack:
            pytest.skip(case.lack)
        with np.errstate(all="ignore"):
            arguments = case.arguments(data.draw)
            case.check(wide(arguments) if case.is_wide and data.draw(st.booleans()) else arguments)

    test.cases = listed  # type: ignore[attr-defined]
    return test


def integer(draw: Draw, least: int, most: int) -> int:
    return int(draw(st.integers(least, most)))


def chance(draw: Draw) -> bool:
    return bool(draw(st.booleans()))


def generator(draw: Draw) -> np.random.Generator:
    return np.random.default_rng(draw(SEEDS))


def normal(draw: Draw, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Numbers that, perhaps, begin elsewhere than memory does, with others on either side."""
    random = generator(draw)
    beside, count = int(random.integers(0, 4)), int(np.prod(shape))
    found: np.ndarray = (
        random.standard_normal(count + 2 * beside).astype(dtype)[beside : beside + count].reshape(shape)
    )
    return found


def special(draw: Draw, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Numbers of which, sometimes, many are alike, or some are none."""
    found, kind = normal(draw, *shape, dtype=dtype), draw(st.sampled_from(["any", "alike", "special"]))
    if kind == "alike":
        return np.round(found)
    if kind == "special":
        random = generator(draw)
        where = random.random(shape) < 0.2
        found[where] = random.choice(SPECIAL, int(where.sum()))
    return found


def offsets(draw: Draw, most_runs: int = 5, most: int = 6) -> np.ndarray:
    """Those of runs, some of which have no rows."""
    lengths = generator(draw).integers(0, most + 1, integer(draw, 0, most_runs))
    return np.cumsum([0, *lengths], dtype=np.int64)


def runs(ends: np.ndarray) -> list[range]:
    """The rows of each run."""
    return [range(int(a), int(b)) for a, b in pairwise(ends)]


def filled(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """What holds anything, and is to be written."""
    return np.full(shape, 7, dtype)
