"""Pickled records: reads those that the original wrote, as data.

A pickle is a program. This runs it on a machine that has no power: the only names it may say are those of
numpy's arrays, dtypes and numbers and of bytes, and each stands for a maker of ours that takes data and gives
data. Texts of Python 2 are taken as UTF-8.

It must never import a name that a record gives. Guarantee: ``load`` gives numbers, texts, bytes, None,
lists, tuples, dicts and numpy arrays of numbers or texts, or raises NotPlain; no code that a record names is
run.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NoReturn

import numpy as np

from paddle._recordio.errors import NotPlain

PLAIN_KINDS = frozenset("?biufcSU")
"""The kinds of numpy's dtypes that are data and nothing else."""
_UNUSED = frozenset(pickle.BYTEARRAY8 + pickle.NEXT_BUFFER + pickle.EXT1 + pickle.EXT2 + pickle.EXT4)
Makers = Mapping[tuple[str, str], Callable[..., Any]]
_ATOMS = (type(None), bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def load(record: bytes, also: Makers | None = None) -> Any:
    """Give the sample of a pickled record. Raises NotPlain where it is more than data, or no pickle.

    ``also``: what else it may name, and what makes data of it; with that sets are data, too.
    """
    try:
        machine = _Machine(io.BytesIO(record), encoding="utf-8", errors="surrogateescape")
        machine.makers = {**_MAKERS, **{name: _Maker(make) for name, make in (also or {}).items()}}
        return _settled(machine.load(), {}, (list, tuple) if also is None else (list, tuple, set))
    except NotPlain:
        raise
    except Exception as error:  # whatever a broken program does to the machine that runs it
        raise NotPlain(
            f"a record of {len(record)} bytes is neither a sample that paddle.dataset.common.convert wrote "
            f"nor a whole pickle ({type(error).__name__}: {error})"
        ) from None


class _Array:
    """An array before its bytes are known: what ``_reconstruct`` makes and a state completes."""

    __slots__ = ("value",)

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, is_fortran, raw = state
        values = np.frombuffer(_bytes(raw), dtype.value)
        self.value = (values.reshape(shape[::-1]).T if is_fortran else values.reshape(shape)).copy("K")


class _Dtype:
    """A dtype: a name, then a state that says the order of its bytes."""

    __slots__ = ("value",)
    value: np.dtype[Any]

    def __init__(self, name: Any, *_: object) -> None:
        self.value = np.dtype(_text(name))
        if self.value.kind not in PLAIN_KINDS:
            raise NotPlain(f"a pickled record holds an array of {self.value}, which is more than numbers")

    def __setstate__(self, state: Any) -> None:
        self.value = self.value.newbyteorder(">" if _text(state[1]) == ">" else "<")


class _Maker:
    """Stands for a name; it can be called, and not be changed."""

    __slots__ = ("_make",)
    _make: Callable[..., Any]

    def __init__(self, make: Callable[..., Any]) -> None:
        object.__setattr__(self, "_make", make)

    def __call__(self, *arguments: Any) -> Any:
        return self._make(*arguments)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise NotPlain("a pickled record wants to change what reads it")

    def __setstate__(self, state: object) -> NoReturn:
        raise NotPlain("a pickled record wants to change what reads it")


def _number(dtype: _Dtype, raw: Any) -> Any:
    return np.frombuffer(_bytes(raw), dtype.value)[0]


def _encoded(text: str, encoding: str = "latin1") -> bytes:
    """Bytes as Python 3 wrote them for Python 2."""
    if encoding not in ("latin1", "latin-1"):
        raise NotPlain(f"a pickled record asks for the encoding {encoding!r}")
    return text.encode("latin1")


def _bytes(raw: Any) -> bytes:
    """The bytes of an array; a text of Python 2 gives back what it was read from."""
    if isinstance(raw, str):
        return raw.encode("utf-8", "surrogateescape")
    return raw if isinstance(raw, bytes) else _refuse(raw)


def _text(raw: Any) -> str:
    return raw.decode("ascii") if isinstance(raw, bytes) else str(raw)


_ARRAYS = {"_reconstruct": _Maker(lambda *_: _Array()), "scalar": _Maker(_number)}
_MAKERS: Mapping[tuple[str, str], _Maker] = {
    **{("numpy.core.multiarray", name): maker for name, maker in _ARRAYS.items()},
    **{("numpy._core.multiarray", name): maker for name, maker in _ARRAYS.items()},
    ("numpy", "dtype"): _Maker(_Dtype),
    ("numpy", "ndarray"): _Maker(lambda *_: _Array()),
    ("_codecs", "encode"): _Maker(_encoded),
    ("__builtin__", "bytes"): _Maker(lambda: b""),
    ("builtins", "bytes"): _Maker(lambda: b""),
}


class _Machine(pickle._Unpickler):
    """The one in Python, not the one in C: it takes no memory because a record says so."""

    dispatch: ClassVar[dict[int, Any]] = {
        code: work for code, work in pickle._Unpickler.dispatch.items() if code not in _UNUSED
    }

    makers: Mapping[tuple[str, str], _Maker] = _MAKERS

    def find_class(self, module: str, name: str) -> Any:
        """Give the maker of ours that a name stands for."""
        if (module, name) in self.makers:
            return self.makers[module, name]
        raise NotPlain(
            f"a pickled record asks for {module}.{name}. Records are data here, never programs: numbers, "
            "texts, lists, tuples, dicts and numpy arrays. Write the data set again with "
            "paddle.dataset.common.convert, from samples of these"
        )


def _settled(value: Any, seen: dict[int, Any], several: tuple[type, ...]) -> Any:
    """The value with arrays in place of their makers' work; parts that are shared stay shared."""
    if id(value) in seen:
        return seen[id(value)]
    kind = type(value)
    settled: Any
    if isinstance(value, _Array | _Dtype):
        settled = value.value if isinstance(value, _Array) else _refuse(value)
    elif kind in several:
        settled = kind(_settled(item, seen, several) for item in value)
    elif kind is dict:
        settled = {_settled(k, seen, several): _settled(v, seen, several) for k, v in value.items()}
    else:
        settled = value if isinstance(value, _ATOMS) else _refuse(value)
    seen[id(value)] = settled
    return settled


def _refuse(value: object) -> NoReturn:
    raise NotPlain(f"a pickled record has a {type(value).__name__.strip('_').lower()}, which is not a sample")
